"""The layer check finds what it is there to find."""

import contextlib
import io
import pathlib
import tempfile
import unittest
import unittest.mock

import check_layers


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def offences(self, **files):
        """Writes files (a double underscore stands for a slash, a final _h or _cc for the ending) and checks them."""
        for name, text in files.items():
            stem, _, ending = name.rpartition("_")
            path = self.root / f"{stem.replace('__', '/')}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return check_layers.check(self.root)

    def assert_one_offence(self, offences, *parts):
        self.assertEqual(len(offences), 1, offences)
        for part in parts:
            self.assertIn(part, offences[0])

    def test_grpc_in_the_core_is_named_with_file_and_line(self):
        found = self.offences(server__core__a_cc='#include "server/core/a.h"\n\n#include <grpcpp/grpcpp.h>\n')

        self.assert_one_offence(found, "server/core/a.cc:3: ", "grpcpp/grpcpp.h", "not grpc")

    def test_what_the_core_may_use_is_no_offence(self):
        text = '#include <vector>\n#include <sys/mman.h>\n#include "absl/status/status.h"\n#include "hwy/highway.h"\n'

        self.assertEqual(self.offences(server__core__deep__a_cc=text), [])

    def test_forbidden_libraries_in_the_core(self):
        for header in ("google/protobuf/message.h", "embd/v1/tensor.pb.h", "spdlog/spdlog.h", "nlohmann/json.hpp",
                       "openssl/evp.h", "server/formats/load_table.h", "proto/wire/status.h", "prometheus/counter.h"):
            with self.subTest(header):
                self.assert_one_offence(self.offences(server__core__a_cc=f'#include "{header}"\n'), header)

    def test_openssl_is_for_single_files_only(self):
        self.assertEqual(self.offences(server__core__table__checksum_cc="#include <openssl/evp.h>\n"), [])
        self.assert_one_offence(
            self.offences(server__core__table__checksum_cc="#include <openssl/ssl.h>\n"), "openssl/ssl.h"
        )

    def test_wire_knows_nothing_of_the_server(self):
        self.assert_one_offence(
            self.offences(proto__wire__a_h='#include "server/core/error.h"\n'), "proto/wire/a.h:1", "not core"
        )

    def test_configuration_knows_no_tables(self):
        self.assert_one_offence(self.offences(server__config__a_cc='#include "server/core/error.h"\n'), "not core")

    def test_command_line_sees_the_client_but_not_grpc(self):
        self.assertEqual(self.offences(client__cli__a_cc='#include "embd/client.h"\n#include <CLI/CLI.hpp>\n'), [])
        self.assert_one_offence(self.offences(client__cli__a_cc="#include <grpcpp/channel.h>\n"), "not grpc")
        self.assert_one_offence(
            self.offences(client__cli__a_cc='#include "client/src/channel.h"\n'), "not client sources"
        )

    def test_service_does_not_read_files_or_configuration(self):
        for header in ("server/formats/load_table.h", "server/config/load.h", "server/app/server.h"):
            with self.subTest(header):
                self.assert_one_offence(self.offences(server__service__a_cc=f'#include "{header}"\n'), header)

    def test_folder_that_no_layer_has_is_an_offence(self):
        self.assert_one_offence(self.offences(server__utils__a_h="\n"), "server/utils/a.h:1", "no layer")

    def test_unknown_library_and_unknown_system_header_are_offences(self):
        self.assert_one_offence(self.offences(server__app__a_cc="#include <boost/asio.hpp>\n"), "boost/asio.hpp")
        self.assert_one_offence(self.offences(server__app__a_cc="#include <zlib.h>\n"), "zlib.h")

    def test_spellings_that_would_slip_through_are_seen(self):
        for line in ("#  include<grpcpp/grpcpp.h>", "\t#include\t<grpcpp/grpcpp.h>", '#include "../service/a.h"',
                     "#include GRPC_HEADER", '#include "server/core/../service/a.h"'):
            with self.subTest(line):
                self.assert_one_offence(self.offences(server__core__a_cc=line + "\n"), "server/core/a.cc:1")

    def test_neighbour_in_the_same_folder_is_no_offence(self):
        found = self.offences(client__src__a_cc='#include "a.h"\n', client__src__a_h="#include <vector>\n")

        self.assertEqual(found, [])

    def test_includes_in_comments_do_not_count(self):
        text = "// #include <grpcpp/grpcpp.h>\n/*\n#include <grpcpp/grpcpp.h>\n*/\n#include <vector>\n"

        self.assertEqual(self.offences(server__core__a_cc=text), [])

    def test_a_tree_without_sources_is_an_offence(self):
        self.assert_one_offence(check_layers.check(self.root), "no source files")

    def test_program_prints_offences_and_exits_with_one(self):
        self.offences(server__core__a_cc="#include <grpcpp/grpcpp.h>\n")
        output = io.StringIO()

        with contextlib.redirect_stdout(output), unittest.mock.patch("sys.argv", ["check_layers.py", str(self.root)]):
            exit_code = check_layers.main()

        self.assertEqual(exit_code, 1)
        self.assertIn("server/core/a.cc:1: ", output.getvalue())


if __name__ == "__main__":
    unittest.main()
