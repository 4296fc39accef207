#include "client/cli/commands/session.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace embd::cli {

void Session::PrintJson(const nlohmann::ordered_json& value) const {
  world.out << value.dump(/*indent=*/2, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace) << '\n';
}

void Session::Note(const std::string& text) const { world.err << "embdctl: " << text << '\n'; }

}  // namespace embd::cli
