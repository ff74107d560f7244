// The server, and the only file that includes the HTTP library.
#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "dashboard/page.hpp"
#include "paceline/dashboard.hpp"

namespace paceline {
namespace {

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kMethodNotAllowed = 405;

/// Signals are for the threads of the run; and a reader that leaves early must not end it by
/// SIGPIPE. Threads that this one starts inherit it.
void take_no_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

/// The library ignores SIGPIPE in the whole process; the program's output shall end as it did.
std::unique_ptr<httplib::Server> make_quiet_server() {
  struct sigaction before {};

  sigaction(SIGPIPE, nullptr, &before);
  auto server = std::make_unique<httplib::Server>();
  sigaction(SIGPIPE, &before, nullptr);
  return server;
}

/// What a reader says that it has; a number that is missing is 0.
/// @return false if a number is none
bool read_seen(const httplib::Request& request, Seen& seen) {
  seen.run = request.get_param_value("run");
  for (const auto& [name, number] : {std::pair{"scheme", &seen.scheme},
                                     std::pair{"since", &seen.rounds},
                                     std::pair{"stride", &seen.stride}}) {
    if (!request.has_param(name)) continue;
    const std::string text = request.get_param_value(name);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, *number);
    if (error != std::errc{} || stop != end) return false;
  }
  return true;
}

std::string trouble_of(const DashboardAddress& address, int reason) {
  const std::string where = fmt::format("{}:{}", address.host, address.port);
  switch (reason) {
    case EADDRINUSE:
      return fmt::format(
          "dashboard: port {} is in use on {}; :0 takes a free one", address.port, address.host);
    case EACCES:
      return fmt::format(
          "dashboard: not allowed to listen on {}; ports from 1024 on need no rights", where);
    case EADDRNOTAVAIL:
      return fmt::format("dashboard: cannot listen on {}: no address of this machine", where);
    default:
      return fmt::format("dashboard: cannot listen on {}: no address, or not free", where);
  }
}

class HttpDashboard : public Dashboard {
 public:
  explicit HttpDashboard(const LiveState& state) : state_(state), server_(make_quiet_server()) {
    httplib::Server& server = *server_;
    // Two processes must not share a port, as SO_REUSEPORT, the library's choice, would let them.
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    constexpr int kThreads = 4;
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // A request per connection, and nobody is waited for long: the end of a run waits for these.
    server.set_keep_alive_max_count(1);
    server.set_keep_alive_timeout(1);
    server.set_read_timeout(1);
    server.set_write_timeout(2);
    server.set_tcp_nodelay(true);
    server.set_default_headers(
        {{"Cache-Control", "no-store"},
         {"X-Content-Type-Options", "nosniff"},
         {"Referrer-Policy", "no-referrer"},
         {"Content-Security-Policy",
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
          "connect-src 'self'; img-src data:; frame-ancestors 'none'"}});
    server.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& reply) {
      if (request.method == "GET" || request.method == "HEAD") {
        return httplib::Server::HandlerResponse::Unhandled;
      }
      reply.status = kMethodNotAllowed;
      reply.set_header("Allow", "GET, HEAD");
      return httplib::Server::HandlerResponse::Handled;
    });
    server.set_error_handler([](const httplib::Request&, httplib::Response& reply) {
      if (!reply.body.empty()) return;
      reply.set_content(reply.status == kMethodNotAllowed
                            ? "this page can only be read: GET and HEAD\n"
                            : "not here; there are / and /state and /metrics\n",
                        "text/plain");
    });
    server.Get("/", [](const httplib::Request&, httplib::Response& reply) {
      const std::string_view page = live_page();
      reply.set_content(page.data(), page.size(), "text/html; charset=utf-8");
    });
    server.Get("/state", [this](const httplib::Request& request, httplib::Response& reply) {
      Seen seen;
      if (!read_seen(request, seen)) {
        reply.status = kBadRequest;
        reply.set_content("scheme, since and stride are whole numbers\n", "text/plain");
        return;
      }
      // With its charset the library does not compress it, which would take processor time from
      // the workers.
      reply.set_content(live_json(state_.view(seen)), "application/json; charset=utf-8");
    });
    server.Get("/metrics", [this](const httplib::Request&, httplib::Response& reply) {
      reply.set_content(prometheus_text(state_.numbers()),
                        "text/plain; version=0.0.4; charset=utf-8");
    });
  }

  Expected<void> listen(const DashboardAddress& address) {
    errno = 0;
    port_ = address.port;
    bool bound = true;
    if (port_ == 0) {
      port_ = server_->bind_to_any_port(address.host);
      bound = port_ > 0;
    } else {
      bound = server_->bind_to_port(address.host, port_);
    }
    if (!bound) return invalid(trouble_of(address, errno));
    host_ = address.host;
    thread_ = std::jthread([this] {
      take_no_signals();
      server_->listen_after_bind();
      ended_ = true;
    });
    // Only a server that runs can be stopped.
    while (!server_->is_running() && !ended_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
  }

  ~HttpDashboard() override { server_->stop(); }

  std::string url() const override {
    return host_.find(':') == std::string::npos ? fmt::format("http://{}:{}/", host_, port_)
                                                : fmt::format("http://[{}]:{}/", host_, port_);
  }

 private:
  const LiveState& state_;
  std::unique_ptr<httplib::Server> server_;
  std::string host_;
  int port_ = 0;
  std::atomic<bool> ended_{false};
  std::jthread thread_;  ///< last: it is joined before anything that it uses goes
};

}  // namespace

Expected<std::unique_ptr<Dashboard>> Dashboard::open(const DashboardAddress& address,
                                                     const LiveState& state) {
  auto dashboard = std::make_unique<HttpDashboard>(state);
  if (auto listening = dashboard->listen(address); !listening) {
    return Unexpected(listening.error());
  }
  return std::unique_ptr<Dashboard>(std::move(dashboard));
}

}  // namespace paceline
