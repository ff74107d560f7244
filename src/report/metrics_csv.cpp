#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "paceline/metrics.hpp"
#include "report/file.hpp"

namespace paceline {
namespace {

/// As a CSV field: labels hold commas.
std::string csv_text(std::string_view text) {
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

/// Empty where it is not finite.
std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : std::string();
}

}  // namespace

MetricsTable::MetricsTable(std::unique_ptr<detail::OutputFile> rounds,
                           std::unique_ptr<detail::OutputFile> losses,
                           int models)
    : rounds_(std::move(rounds)), losses_(std::move(losses)), models_(models) {}

MetricsTable::MetricsTable(MetricsTable&&) noexcept = default;
MetricsTable& MetricsTable::operator=(MetricsTable&&) noexcept = default;
MetricsTable::~MetricsTable() = default;

Expected<MetricsTable> MetricsTable::create(const std::string& folder, int models) {
  const auto open = [&](const char* name) {
    const std::string path = folder + "/" + name;
    return detail::OutputFile::create(path, path);
  };
  auto rounds = open("metrics.csv");
  if (!rounds) return Unexpected(rounds.error());
  auto losses = open("losses.csv");
  if (!losses) return Unexpected(losses.error());
  MetricsTable table(std::make_unique<detail::OutputFile>(*std::move(rounds)),
                     std::make_unique<detail::OutputFile>(*std::move(losses)),
                     models);
  if (auto written = table.rounds_->write(
          "scheme,round,opened_s,closed_s,busy,stragglers,straggler_workers,decoded,waited_out\n");
      !written) {
    return Unexpected(written.error());
  }
  if (auto written =
          table.losses_->write("scheme,round,time_s,job,model,update,loss,residual,skipped\n");
      !written) {
    return Unexpected(written.error());
  }
  return table;
}

Expected<void> MetricsTable::write(std::string_view scheme,
                                   const RoundRecord& record,
                                   std::span<const JobLoss> losses) {
  PACELINE_CHECK(rounds_ != nullptr);
  const std::string label = csv_text(scheme);
  std::string stragglers;
  record.stragglers.for_each([&](WorkerId worker) {
    stragglers += fmt::format("{}{}", stragglers.empty() ? "" : " ", worker.value);
  });
  auto written = rounds_->write(fmt::format("{},{},{:.6f},{:.6f},{},{},{},{},{:d}\n",
                                            label,
                                            record.round.value,
                                            record.opened.count(),
                                            record.closed.count(),
                                            record.busy,
                                            record.stragglers.size(),
                                            stragglers,
                                            record.decoded.size(),
                                            record.waited_out));
  std::string lines;
  for (const JobLoss& loss : losses) {
    lines += fmt::format("{},{},{:.6f},{},{},{},{},{},{:d}\n",
                         label,
                         record.round.value,
                         record.closed.count(),
                         loss.job.value,
                         loss.model.value,
                         loss.job.value / models_,
                         csv_number(loss.loss),
                         csv_number(loss.residual),
                         loss.skipped);
  }
  if (!written || lines.empty()) return written;
  return losses_->write(lines);
}

Expected<void> MetricsTable::close() {
  PACELINE_CHECK(rounds_ != nullptr);
  auto rounds = std::exchange(rounds_, nullptr)->sync_and_close();
  auto losses = std::exchange(losses_, nullptr)->sync_and_close();
  return rounds ? losses : rounds;
}

}  // namespace paceline
