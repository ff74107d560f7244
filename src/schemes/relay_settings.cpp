#include "schemes/relay_settings.hpp"

#include <algorithm>
#include <array>

namespace paceline::relay {
namespace {

constexpr std::array<double, 22> kCopies = {1,  1.25, 1.5, 2,  2.5, 3,  4,  5,  6,   8,   10,
                                            12, 16,   20,  24, 32,  48, 64, 96, 128, 256, 512};
constexpr double kMostCopiesWithOpenUnits = 16;
constexpr double kMostCopiesBySpeed = 2;

struct Reassignment {
  int due_copies;
  int mid_copies;
  bool split;
};

constexpr std::array<Reassignment, 3> kReassignments = {
    Reassignment{8, 2, false}, Reassignment{4, 1, false}, Reassignment{3, 1, true}};

// The axes where a round of many workers takes long to play.
constexpr std::array<double, 12> kFewCopies = {1, 1.5, 2, 3, 4, 6, 8, 16, 32, 64, 128, 512};

std::vector<double> copies_up_to(double most, bool many_workers) {
  std::vector<double> copies;
  const auto add = [&](double r0) {
    if (r0 < most) copies.push_back(r0);
  };
  if (many_workers) {
    std::ranges::for_each(kFewCopies, add);
  } else {
    std::ranges::for_each(kCopies, add);
    for (double r0 = 1024; r0 < most; r0 *= 2) add(r0);
  }
  copies.push_back(most);
  return copies;
}

std::vector<double> thresholds(const Setting& setting, bool accept_late, bool many_workers) {
  std::vector<double> x = {0};
  if (setting.late_rounds == 0 || setting.copies > kMostCopiesWithOpenUnits) return x;
  if (many_workers) return {0, 0.05, 0.2, 0.7};
  x.insert(x.end(), {0.05, 0.2, 0.4, 0.7});
  if (accept_late) x.push_back(0.95);
  return x;
}

}  // namespace

std::vector<Setting> candidate_settings(const Game& game,
                                        const std::vector<int>& bundles,
                                        bool accept_late) {
  const bool many = has_many_workers(game);
  std::vector<Setting> settings;
  for (const int bundle : bundles) {
    Setting setting;
    setting.bundle = bundle;
    setting.late_rounds = game.window / bundle - 1;
    for (const double copies :
         copies_up_to(static_cast<double>(game.workers) / game.groups, many)) {
      setting.copies = copies;
      for (const bool by_speed : {false, true}) {
        if (by_speed && copies > kMostCopiesBySpeed) continue;
        setting.by_speed = by_speed;
        for (const double x : thresholds(setting, accept_late, many)) {
          setting.threshold = x;
          for (const Reassignment& open : kReassignments) {
            if ((x == 0 || many) && open.due_copies != 4) continue;
            setting.due_copies = open.due_copies;
            setting.mid_copies = open.mid_copies;
            setting.split = open.split;
            for (const bool by_id : {false, true}) {
              if (many && by_id) continue;
              setting.by_id = by_id;
              settings.push_back(setting);
            }
          }
        }
      }
    }
  }
  return settings;
}

std::vector<Setting> candidate_groups(const Game& game) {
  std::vector<Setting> settings;
  Setting setting;
  setting.late_rounds = 0;
  setting.by_id = true;
  setting.rescue = false;
  for (const double copies : copies_up_to(game.workers, has_many_workers(game))) {
    setting.copies = copies;
    settings.push_back(setting);
  }
  return settings;
}

std::vector<int> possible_bundles(const Game& game) {
  std::vector<int> bundles;
  for (int m = 1; m <= std::min(game.window, game.workers / game.groups); ++m) {
    if (game.window % m == 0) bundles.push_back(m);
  }
  return bundles;
}

Setting first_setting(const Game& game, const std::vector<int>& bundles) {
  constexpr double kCopiesAtFirst = 3;
  constexpr int kUnitsPerJob = 4;  // with fewer, a job's load is too much to pay for not knowing
  const int holders = game.workers / game.groups;
  Setting setting;
  setting.copies = std::min<double>(kCopiesAtFirst, holders);
  setting.bundle = *std::ranges::min_element(bundles);
  for (const int m : bundles) {
    if (m * setting.copies * kUnitsPerJob <= holders) setting.bundle = std::max(setting.bundle, m);
  }
  setting.late_rounds = game.window / setting.bundle - 1;
  setting.threshold = setting.late_rounds > 0 ? 0.05 : 0;
  setting.due_copies = 4;
  setting.mid_copies = 1;
  return setting;
}

}  // namespace paceline::relay
