#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "dashboard/rounds.hpp"
#include "paceline/dashboard.hpp"

namespace paceline {
namespace {

/// Connects to 127.0.0.1; -1: nobody listens.
int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

/// All that the server says to one request.
std::string ask(int port, const std::string& request) {
  const int fd = connect_to(port);
  EXPECT_GE(fd, 0);
  const std::string text = request + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(fd);
  return answer;
}

class LivePage : public testing::Test {
 protected:
  void SetUp() override {
    state.describe(rounds::run_of(4, 2));
    state.begin(
        {.number = 1, .schemes = 1, .label = "gc:s=1", .jobs = 99, .predicted = {}, .limit = {}});
    rounds::play(state, 4, 2, 0, 3);
    auto opened = Dashboard::open({.host = "127.0.0.1", .port = 0}, state);
    ASSERT_TRUE(opened) << opened.error().message;
    dashboard = std::move(opened).value();
    port = std::stoi(dashboard->url().substr(std::string("http://127.0.0.1:").size()));
  }

  LiveState state;
  std::unique_ptr<Dashboard> dashboard;
  int port = 0;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(LivePage, ServesPageStateAndMetrics) {
  const std::string page = ask(port, "GET /");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(has(page, "Content-Type: text/html; charset=utf-8"));
  EXPECT_TRUE(has(page, "Content-Security-Policy: default-src 'none'"));
  EXPECT_TRUE(has(page, "Paceline live"));
  EXPECT_FALSE(has(page, "{{")) << "a part is missing";
  for (const char* request : {"src=", "@import", "url(", "action="})
    EXPECT_FALSE(has(page, request)) << request;

  const std::string told = ask(port, "GET /state?run=7&scheme=1&since=2&stride=1");
  EXPECT_TRUE(has(told, "Content-Type: application/json"));
  EXPECT_TRUE(has(told, "\"columns\":{\"round\":[2],"));
  EXPECT_TRUE(has(ask(port, "GET /state"), "\"columns\":{\"round\":[0,1,2],"));
  EXPECT_TRUE(ask(port, "GET /state?since=x").starts_with("HTTP/1.1 400"));

  const std::string metrics = ask(port, "GET /metrics");
  EXPECT_TRUE(has(metrics, "Content-Type: text/plain; version=0.0.4"));
  EXPECT_TRUE(has(metrics, "\npaceline_jobs_decoded_total 3\n"));
  const std::string head = ask(port, "HEAD /metrics");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200"));
  EXPECT_FALSE(has(head, "paceline_jobs"));
}

TEST_F(LivePage, CanOnlyBeRead) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const std::string answer = ask(port, std::string(method) + " /state");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405")) << method << ": " << answer;
    EXPECT_TRUE(has(answer, "Allow: GET, HEAD")) << method;
  }
  for (const char* path : {"/x", "/state/", "/../etc/passwd", "//", "/index.html"}) {
    EXPECT_TRUE(ask(port, std::string("GET ") + path).starts_with("HTTP/1.1 404")) << path;
  }
}

TEST_F(LivePage, TakesNoPortThatIsInUse) {
  const auto second = Dashboard::open({.host = "127.0.0.1", .port = port}, state);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(has(second.error().message, "port " + std::to_string(port) + " is in use"));
}

TEST_F(LivePage, IsGoneWhenItsOwnerIs) {
  const int idle = connect_to(port);  // a browser keeps connections for later
  dashboard.reset();
  EXPECT_EQ(connect_to(port), -1);
  ::close(idle);
  const auto again = Dashboard::open({.host = "127.0.0.1", .port = port}, state);
  EXPECT_TRUE(again) << "its port is free at once";
}

TEST_F(LivePage, BearsReadersThatLeaveEarly) {
  rounds::play(state, 4, 2, 3, 3000);
  for (int k = 0; k < 20; ++k) {
    const int fd = connect_to(port);
    const std::string text = "GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ASSERT_GT(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), 0);
    const linger reset{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    ::close(fd);
  }
  EXPECT_TRUE(ask(port, "GET /metrics").starts_with("HTTP/1.1 200"));
}

TEST_F(LivePage, LeavesSignalsToTheProgram) {
  struct sigaction action {};

  sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(Dashboard, RefusesAddressesOfOtherMachines) {
  const LiveState state;
  const auto refused = Dashboard::open({.host = "192.0.2.1", .port = 8080}, state);  // RFC 5737
  ASSERT_FALSE(refused);
  EXPECT_TRUE(has(refused.error().message, "192.0.2.1:8080: no address of this machine"));
}

}  // namespace
}  // namespace paceline
