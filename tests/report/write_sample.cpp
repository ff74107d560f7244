// Writes a page of made-up runs, to look at while editing it:
//   paceline_report_sample page.html [workers rounds models]
#include <cstdio>
#include <cstdlib>

#include "paceline/metrics.hpp"
#include "report/sample_report.hpp"

int main(int argc, char** argv) {
  paceline::sample::Size size;
  if (argc == 5) {
    size.workers = std::atoi(argv[2]);
    size.rounds = std::atoi(argv[3]);
    size.models = std::atoi(argv[4]);
  } else if (argc != 2) {
    std::fputs("usage: paceline_report_sample page.html [workers rounds models]\n", stderr);
    return 2;
  }
  const paceline::RunReport report = paceline::sample::make_report(size);
  const auto written = paceline::write_text_file(argv[1], paceline::report_html(report));
  if (!written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 1;
  }
  std::fputs(paceline::table_text(report).c_str(), stdout);
}
