#include "client/cli/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <new>
#include <ostream>
#include <sstream>

#include "client/cli/commands/commands.h"

namespace embd::cli {
namespace {

struct GlobalOptions {
  std::string server = "127.0.0.1:8001";
  std::string output = "text";
  double timeout_s = 60;
};

void AddGlobalOptions(CLI::App& app, GlobalOptions& options) {
  app.add_option("--server", options.server, "Where the server listens: HOST:PORT or unix:PATH")
      ->type_name("ADDR")
      ->envname("EMBDCTL_SERVER")
      ->capture_default_str();
  app.add_option("--output", options.output, "How results are printed: text or json (one value)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
      ->envname("EMBDCTL_OUTPUT")
      ->capture_default_str();
  app.add_option("--timeout", options.timeout_s, "How long a call may take, in seconds")
      ->type_name("S")
      ->check(CLI::Range(0.001, 1e9, "0.001 to 1e9"))
      ->envname("EMBDCTL_TIMEOUT")
      ->capture_default_str();
  app.set_version_flag("--version", "embdctl " EMBD_VERSION, "Print the version and exit");
}

// Help and version are results; what is wrong with the flags is said in one line.
int ReportParsing(const CLI::App& app, const CLI::ParseError& error, const Surroundings& world) {
  std::ostringstream out;
  std::ostringstream ignored;
  if (app.exit(error, out, ignored) == 0) {
    world.out << out.str();
    return static_cast<int>(ExitCode::kDone);
  }
  world.err << "embdctl: " << error.what() << "\nRun with --help for the usage.\n";
  return static_cast<int>(ExitCode::kUsage);
}

Outcome AskServer(const GlobalOptions& options, const Action& action, const Surroundings& world) {
  const absl::StatusOr<client::Client> client =
      world.connect(options.server, {.timeout = absl::Seconds(options.timeout_s)});
  if (!client.ok()) return WrongUsage(client.status());
  return action.ask_server({.client = *client, .world = world, .json = options.output == "json"});
}

Outcome Perform(const GlobalOptions& options, const Action& action, const Surroundings& world) {
  if (action.run_alone) return action.run_alone(world);
  if (action.ask_server) return AskServer(options, action, world);
  return WrongUsage(absl::InvalidArgumentError("name a command, such as models; --help lists them"));
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments, const Surroundings& world) {
  CLI::App app("Asks an embd server: embeddings of ids, and what its tables look like.", "embdctl");
  app.footer(
      "Exit: 0 done, 1 the server refused, 2 wrong usage, 3 the server cannot be reached or took too long.\n"
      "Example: embdctl embed demo-learned --ids \"1 2 3; 4 5 6\"");
  app.require_subcommand(0, 1);  // none is refused below: the parser would not name an unknown one
  app.fallthrough();             // --server and its like may also stand behind the command

  GlobalOptions options;
  AddGlobalOptions(app, options);
  Action action;
  AddHealthCommand(app, action);
  AddInfoCommand(app, action);
  AddModelsCommand(app, action);
  AddDescribeCommand(app, action);
  AddEmbedCommand(app, action);
  AddSimilarityCommand(app, action);
  AddCompareCommand(app, action);
  AddCompletionCommand(app, action);

  Outcome outcome;
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // taken from the back
    outcome = Perform(options, action, world);
  } catch (const CLI::ParseError& error) {
    return ReportParsing(app, error, world);
  } catch (const std::bad_alloc&) {
    outcome = {.code = ExitCode::kUsage, .message = "not enough memory for a tensor of that size"};
  }
  if (!outcome.message.empty()) world.err << "embdctl: " << outcome.message << '\n';
  return static_cast<int>(outcome.code);
}

}  // namespace embd::cli
