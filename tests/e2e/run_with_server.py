"""run_with_server.py COMMAND…: runs a command beside a fresh server with the demo models.

The command finds the server in $EMBD_ADDRESS and the npm packages by $NODE_PATH. The exit code is the command's, or 1
where the server did not survive it.
"""

import os
import subprocess
import sys

from support.node_modules import node_modules
from support.server_process import ServerProcess

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    modules = node_modules()
    with ServerProcess() as server:
        environment = {**os.environ, "EMBD_ADDRESS": server.address, "NODE_PATH": str(modules)}
        exit_code = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
        if not server.is_running():
            sys.exit(f"the server did not survive the command:\n{server.log()}")
    sys.exit(exit_code)
