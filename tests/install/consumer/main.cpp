// Plays gradient coding on four workers, of which the last never answers: what a project outside
// needs of the installed headers and libraries.
#include <cstdio>
#include <variant>
#include <vector>

#include "paceline/round_coordinator.hpp"

int main() {
  using namespace paceline;
  constexpr int kJobs = 3;
  auto scheme = make_scheme("gc:s=1", {.workers = 4, .jobs = kJobs});
  auto policy = make_close_policy("eager");
  if (!scheme || !policy) return 1;
  auto coordinator =
      make_round_coordinator(*std::move(scheme), *std::move(policy), {.jobs = kJobs, .models = 1});
  if (!coordinator) return 1;

  std::vector<Order> orders;
  int decoded = 0;
  double now = 0;
  const auto carry_out = [&](const Actions& actions) {
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) orders.push_back(send->order);
      if (std::holds_alternative<Apply>(action)) ++decoded;
    }
  };
  carry_out((*coordinator)->start(Seconds{now}));
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const Order order = orders[i];
    if (order.worker == WorkerId{3}) continue;
    carry_out((*coordinator)->on(Arrived{{order.worker, order.round}}, Seconds{now += 1}));
  }
  std::printf("%d of %d jobs decoded\n", decoded, kJobs);
  return decoded == kJobs ? 0 : 1;
}
