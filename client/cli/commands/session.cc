#include "client/cli/commands/session.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "client/cli/files/json_lists.h"
#include "client/cli/render/json_text.h"

namespace embd::cli {

void Session::PrintJson(const nlohmann::ordered_json& value) const { world.out << JsonText(value) << '\n'; }

void Session::PrintJson(const nlohmann::ordered_json& object, const std::string& name, TensorView tensor) const {
  std::string head = JsonText(object);
  head.resize(head.size() - 2);  // the tensor comes before the line of the closing brace
  world.out << head << ",\n  \"" << name << "\": ";
  WriteJsonLists(tensor, world.out);
  world.out << "\n}\n";
}

void Session::Note(const std::string& text) const { world.err << "embdctl: " << text << '\n'; }

}  // namespace embd::cli
