#include "client/cli/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <ostream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/connection_flags.h"
#include "client/cli/commands/number_range.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

struct GlobalOptions {
  std::string server = "127.0.0.1:8001";
  std::string output = "text";
  double timeout_s = 60;
  ConnectionFlags connection;
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
      ->check(SecondsFrom(0.001, 1e9))
      ->envname("EMBDCTL_TIMEOUT")
      ->capture_default_str();
  AddConnectionFlags(app, options.connection);
  app.set_version_flag("--version", "embdctl " EMBD_VERSION, "Print the version and exit");
}

bool Given(const std::vector<std::string>& arguments, const std::string& flag) {
  return std::any_of(arguments.begin(), arguments.end(), [&flag](const std::string& argument) {
    return argument == flag || absl::StartsWith(argument, flag + "=");
  });
}

// What the parser says, but "EMBDCTL_TIMEOUT: …" for "--timeout: …" where the word came from the variable.
std::string Complaint(const CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error) {
  const std::string complaint = error.what();
  for (const CLI::Option* const option : app.get_options()) {
    const std::string& variable = option->get_envname();
    const std::string flag = option->get_name();
    if (variable.empty() || Given(arguments, flag) || !absl::StartsWith(complaint, flag + ":")) continue;
    return variable + complaint.substr(flag.size());
  }
  return complaint;
}

// Help and version are results; what is wrong with the flags is said in one line.
int ReportParsing(const CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error,
                  const Surroundings& world) {
  std::ostringstream out;
  std::ostringstream ignored;
  if (app.exit(error, out, ignored) == 0) {
    world.out << out.str();
    return static_cast<int>(ExitCode::kDone);
  }
  const std::vector<std::string> rest = app.remaining();
  const bool unknown_command = app.get_subcommands().empty() && !rest.empty() && !absl::StartsWith(rest.front(), "-");
  world.err << "embdctl: "
            << (unknown_command ? UnknownCommand(app, rest.front()).message : Complaint(app, arguments, error))
            << "\nRun with --help for the usage.\n";
  return static_cast<int>(ExitCode::kUsage);
}

Outcome AskServer(const GlobalOptions& options, const Action& action, const Surroundings& world) {
  const absl::Duration timeout = absl::Seconds(options.timeout_s);
  client::ClientOptions connection = ToClientOptions(options.connection);
  connection.timeout = timeout;
  const absl::StatusOr<client::Client> client = world.connect(options.server, connection);
  if (!client.ok()) return WrongUsage(client.status());
  Outcome outcome = action.ask_server({.client = *client,
                                       .world = world,
                                       .json = options.output == "json",
                                       .server = options.server,
                                       .timeout = timeout,
                                       .connection = connection});
  if (outcome.code == ExitCode::kUnreachable) {
    absl::StrAppend(&outcome.message, " (server ", options.server);
    if (outcome.timed_out) absl::StrAppend(&outcome.message, ", --timeout ", options.timeout_s, " s");
    absl::StrAppend(&outcome.message, ")");
  }
  return outcome;
}

Outcome Perform(const GlobalOptions& options, const Action& action, const Surroundings& world) {
  if (action.run_alone) return action.run_alone(world);
  if (action.ask_server) return AskServer(options, action, world);
  return WrongUsage(absl::InvalidArgumentError("name a command, such as models; --help lists them"));
}

}  // namespace

Outcome UnknownCommand(const CLI::App& app, const std::string& name) {
  const auto append_name = [](std::string* out, const CLI::App* command) { out->append(command->get_name()); };
  return WrongUsage(absl::InvalidArgumentError(absl::StrCat(
      "unknown command ", Quoted(name), "; there are ", absl::StrJoin(app.get_subcommands({}), ", ", append_name))));
}

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
  AddVerifyCommand(app, action);
  AddRotateCommand(app, action);
  AddRotaryTableCommand(app, action);
  AddSimilarityCommand(app, action);
  AddProjectCommand(app, action);
  AddNearestCommand(app, action);
  AddAnalogyCommand(app, action);
  AddSimilarCommand(app, action);
  AddCompareCommand(app, action);
  AddLoadCommand(app, action);
  AddUnloadCommand(app, action);
  AddReloadCommand(app, action);
  AddRegionsCommand(app, action);
  AddBenchCommand(app, action);
  AddCompletionCommand(app, action);
  AddHelpCommand(app, action);

  Outcome outcome;
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // taken from the back
    outcome = Perform(options, action, world);
  } catch (const CLI::ParseError& error) {
    return ReportParsing(app, arguments, error, world);
  } catch (const std::bad_alloc&) {
    outcome = {.code = ExitCode::kUsage, .message = "not enough memory for a tensor of that size", .timed_out = false};
  }
  if (!outcome.message.empty()) world.err << "embdctl: " << outcome.message << '\n';
  return static_cast<int>(outcome.code);
}

}  // namespace embd::cli
