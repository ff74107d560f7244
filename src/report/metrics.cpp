#include "paceline/metrics.hpp"

#include <utility>

#include "report/file.hpp"
#include "report/json.hpp"

namespace paceline {

MetricsWriter::MetricsWriter(std::unique_ptr<detail::OutputFile> file) : file_(std::move(file)) {}

MetricsWriter::MetricsWriter(MetricsWriter&&) noexcept = default;
MetricsWriter& MetricsWriter::operator=(MetricsWriter&&) noexcept = default;
MetricsWriter::~MetricsWriter() = default;

Expected<MetricsWriter> MetricsWriter::create(const std::string& path) {
  Expected<detail::OutputFile> file = detail::OutputFile::create(path, path);
  if (!file) return Unexpected<Error>(file.error());
  return MetricsWriter(std::make_unique<detail::OutputFile>(std::move(file).value()));
}

Expected<void> MetricsWriter::write(std::string_view scheme,
                                    const RoundRecord& record,
                                    std::span<const JobLoss> losses) {
  PACELINE_CHECK(file_ != nullptr);
  return file_->write(metrics_line(scheme, record, losses) + '\n');
}

Expected<void> MetricsWriter::note(Round round, WorkerId worker, std::string_view what) {
  PACELINE_CHECK(file_ != nullptr);
  return file_->write(event_line(round, worker, what) + '\n');
}

Expected<void> MetricsWriter::close() {
  PACELINE_CHECK(file_ != nullptr);
  return std::exchange(file_, nullptr)->sync_and_close();
}

}  // namespace paceline
