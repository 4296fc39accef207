#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/commands.h"

namespace embd::cli {
namespace {

// What may stand behind an option, where that is a list or a file; a word of bash, for compgen.
struct Values {
  const char* option;
  const char* compgen;
};

constexpr Values kValues[] = {
    {"--output", "-W 'text json'"},
    {"--part", "-W 'composed token position'"},
    {"--chunks", "-W 'auto always never'"},
    {"--dtype", "-W 'float32 float16 bfloat16'"},
    {"--table", "-W 'token position'"},
    {"--mode", "-W 'unary stream async'"},
    {"--ids-distribution", "-W 'uniform zipf'"},
    {"--pairing", "-W 'half interleaved'"},
    {"--in-format", "-W 'npy json jsonl csv txt safetensors'"},
    {"--in", "-f"},
    {"--ids-format", "-W 'npy json jsonl csv txt safetensors'"},
    {"--out-format", "-W 'npy json jsonl csv txt safetensors'"},
    {"--against-format", "-W 'npy json jsonl csv txt safetensors'"},
    {"--ragged", "-W 'padded packed'"},
    {"--padding-side", "-W 'left right'"},
    {"--ids-file", "-f"},
    {"--inputs-embeds", "-f"},
    {"--against", "-f"},
    {"--out", "-f"},
    {"--tls-ca", "-f"},
    {"--tls-certificate", "-f"},
    {"--tls-key", "-f"},
    {"--token-file", "-f"},
};

std::vector<std::string> LongNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(absl::StrCat("--", name));
  }
  return names;
}

// Options that take a value, of the program and of all commands: the word behind one is no command.
std::string OptionsWithValue(const CLI::App& app) {
  std::set<std::string> names;
  const auto add = [&names](const CLI::App& part) {
    for (const CLI::Option* const option : part.get_options()) {
      if (option->get_items_expected_max() == 0) continue;
      for (const std::string& name : option->get_lnames()) names.insert(absl::StrCat("--", name));
    }
  };
  add(app);
  for (const CLI::App* const command : app.get_subcommands({})) add(*command);
  return absl::StrJoin(names, "|");
}

std::string BashScript(const CLI::App& app) {
  std::string script =
      "# Completion of embdctl for bash.\n"
      "_embdctl() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in\n";
  absl::StrAppend(&script, "      ", OptionsWithValue(app), ") ((i++)) ;;\n");
  absl::StrAppend(&script,
                  "      -*) ;;\n"
                  "      *) command=${COMP_WORDS[i]}; break ;;\n"
                  "    esac\n"
                  "  done\n"
                  "  case $before in\n");
  for (const Values& values : kValues) {
    absl::StrAppend(&script, "    ", values.option, ") COMPREPLY=($(compgen ", values.compgen,
                    " -- \"$current\")); return ;;\n");
  }
  absl::StrAppend(&script, "    ", OptionsWithValue(app), ") COMPREPLY=(); return ;;\n  esac\n");
  const std::string global = absl::StrJoin(LongNames(app), " ");
  std::vector<std::string> commands;
  absl::StrAppend(&script, "  local words=\n  case $command in\n");
  for (const CLI::App* const command : app.get_subcommands({})) {
    commands.push_back(command->get_name());
    std::string words = absl::StrJoin(LongNames(*command), " ");
    if (command->get_name() == "completion") words += " bash";
    absl::StrAppend(&script, "    ", command->get_name(), ") words='", words, "' ;;\n");
  }
  absl::StrAppend(&script, "    '') words='", absl::StrJoin(commands, " "), "' ;;\n  esac\n",
                  "  COMPREPLY=($(compgen -W \"$words ", global,
                  "\" -- \"$current\"))\n"
                  "}\n"
                  "complete -o bashdefault -F _embdctl embdctl\n");
  return script;
}

}  // namespace

void AddCompletionCommand(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* const command =
      app.add_subcommand("completion", "Print a script that completes embdctl's words in a shell");
  command->add_option("SHELL", *shell, "bash")->required()->type_name("")->check(CLI::IsMember({"bash"}));
  command->footer("Example: source <(embdctl completion bash)");
  command->callback([&app, &action, shell] {  // `shell` is written to until then
    action.run_alone = [&app](const Surroundings& world) {
      world.out << BashScript(app);
      return Outcome{};
    };
  });
}

}  // namespace embd::cli
