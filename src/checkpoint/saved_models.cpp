#include "paceline/saved_models.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "checkpoint/safetensors.hpp"
#include "report/file.hpp"

namespace paceline {
namespace {

constexpr const char* kAbout = "paceline";  // key of our metadata

std::string tensor_name(std::size_t model) { return fmt::format("model_{}", model); }

nlohmann::ordered_json about_table(const TableLayout& table) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const TableLayout::Column& column : table.columns) {
    if (column.texts.empty()) {
      columns.push_back(
          {{"name", column.name}, {"mean", column.mean}, {"deviation", column.deviation}});
    } else {
      columns.push_back({{"name", column.name}, {"texts", column.texts}});
    }
  }
  return {{"label", table.label},
          {"classes", table.classes},
          {"fills_missing", table.fills_missing},
          {"columns", std::move(columns)}};
}

TableLayout to_table(const nlohmann::json& about) {
  TableLayout table;
  table.label = about.at("label").get<std::string>();
  table.classes = about.at("classes").get<std::vector<std::string>>();
  table.fills_missing = about.at("fills_missing").get<bool>();
  for (const auto& entry : about.at("columns")) {
    TableLayout::Column column;
    column.name = entry.at("name").get<std::string>();
    if (entry.contains("texts")) {
      column.texts = entry.at("texts").get<std::vector<std::string>>();
    } else {
      column.mean = entry.at("mean").get<double>();
      column.deviation = entry.at("deviation").get<double>();
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

std::string about(const SavedModels& models) {
  nlohmann::ordered_json all{{"model", models.model},
                             {"scheme", models.scheme},
                             {"names", models.names},
                             {"features", models.features},
                             {"height", models.height},
                             {"width", models.width},
                             {"classes", models.classes}};
  if (models.table) all["table"] = about_table(*models.table);
  return all.dump();
}

/// All but the weights. @throws nlohmann::json::exception if something is missing
SavedModels to_models(const nlohmann::json& about) {
  SavedModels models;
  models.model = about.at("model").get<std::string>();
  models.scheme = about.at("scheme").get<std::string>();
  models.names = about.at("names").get<std::vector<std::string>>();
  models.features = about.at("features").get<int>();
  models.height = about.at("height").get<int>();
  models.width = about.at("width").get<int>();
  models.classes = about.at("classes").get<int>();
  if (about.contains("table")) models.table = to_table(about.at("table"));
  return models;
}

}  // namespace

Expected<void> write_models(const std::string& path, const SavedModels& models) {
  std::vector<TensorView> tensors;
  for (std::size_t m = 0; m < models.parameters.size(); ++m) {
    tensors.push_back(view_of(tensor_name(m), std::span<const float>(models.parameters[m])));
  }
  const std::string unfinished = path + ".tmp";
  {
    auto file = detail::OutputFile::create(unfinished, path);
    if (!file) return Unexpected(file.error());
    auto written = file->write(safetensors_header(tensors, {{kAbout, about(models)}}));
    for (const TensorView& tensor : tensors) {
      if (!written) return written;
      written =
          file->write({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
    }
    if (!written) return written;
    if (auto closed = file->sync_and_close(); !closed) return closed;
  }
  std::error_code error;
  std::filesystem::rename(unfinished, path, error);
  if (error) return failed(fmt::format("cannot name '{}': {}", path, error.message()));
  return {};
}

Expected<SavedModels> read_models(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) return invalid(fmt::format("cannot read '{}'", path));
  const auto tensors = Tensors::parse(bytes);
  if (!tensors) return invalid(fmt::format("{}: {}", path, tensors.error().message));
  const auto found = tensors->metadata().find(kAbout);
  const auto json = found == tensors->metadata().end()
                        ? nlohmann::json()
                        : nlohmann::json::parse(found->second, nullptr, false);
  SavedModels models;
  try {
    models = to_models(json);
  } catch (const nlohmann::json::exception&) {
    return invalid(
        fmt::format("{}: no models of `paceline train`: they lie in a run's folder as "
                    "models-1.safetensors",
                    path));
  }
  if (models.names.empty() || models.features < 1 || models.classes < 1) {
    return invalid(fmt::format("{}: {} models of {} features and {} classes; at least one of each",
                               path,
                               models.names.size(),
                               models.features,
                               models.classes));
  }
  if (models.table && (models.table->features() != models.features ||
                       static_cast<int>(models.table->classes.size()) != models.classes)) {
    return invalid(fmt::format("{}: its table does not fit its models", path));
  }
  for (std::size_t m = 0; m < models.names.size(); ++m) {
    auto weights = tensors->floats(tensor_name(m));
    if (!weights) return invalid(fmt::format("{}: {}", path, weights.error().message));
    models.parameters.push_back(*std::move(weights));
  }
  return models;
}

}  // namespace paceline
