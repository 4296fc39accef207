#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>

#include "client/cli/commands/commands.h"

namespace embd::cli {

void AddHelpCommand(CLI::App& app, Action& action) {
  auto name = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("help", "Print this help, or that of a command");
  command->add_option("COMMAND", *name, "A command")->type_name("");
  command->footer("Example: embdctl help embed");
  command->callback([name, &app, &action] {
    action.run_alone = [name, &app](const Surroundings& world) {
      if (name->empty()) {  // App::help would print that of this command
        world.out << app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
        return Outcome{};
      }
      const auto asked = app.get_subcommands([&name](const CLI::App* each) { return each->get_name() == *name; });
      if (asked.empty()) return UnknownCommand(app, *name);
      world.out << asked.front()->help(app.get_name());
      return Outcome{};
    };
  });
}

}  // namespace embd::cli
