#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace embd::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

class Program : public ::testing::Test {
 protected:
  Program() : errors_path_(::testing::TempDir() + "cli_program_" + std::to_string(getpid())) {}
  ~Program() override { unlink(errors_path_.c_str()); }

  // Runs the program with that file as standard output; returns what it exits with, or -1 where a signal ended it.
  int Run(std::vector<std::string> arguments, int output) const {
    arguments.insert(arguments.begin(), "embdctl");
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t process = 0;
    EXPECT_EQ(posix_spawn(&process, EMBDCTL_PROGRAM, &files, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    int status = 0;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string Errors() const {
    std::ifstream file(errors_path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string errors_path_;
};

TEST_F(Program, EndsQuietlyWhereNobodyReadsItsOutput) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  close(pipe_ends[0]);

  const int code = Run({"completion", "bash"}, pipe_ends[1]);

  close(pipe_ends[1]);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(Errors(), "");
}

TEST_F(Program, SaysThatItsOutputCannotBeWritten) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);

  const int code = Run({"completion", "bash"}, full);

  close(full);
  EXPECT_EQ(code, 2);
  EXPECT_EQ(Errors(), "embdctl: standard output cannot be written\n");
}

TEST_F(Program, EndsWith3WhereNoServerIsThere) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(nowhere, 0);

  const int code = Run({"--server", "unix:" + errors_path_ + ".no-such-socket", "--timeout", "5", "models"}, nowhere);

  close(nowhere);
  EXPECT_EQ(code, 3);
  EXPECT_THAT(Errors(), AllOf(StartsWith("embdctl: UNAVAILABLE"), EndsWith(".no-such-socket)\n")));
}

}  // namespace
}  // namespace embd::cli
