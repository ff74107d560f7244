// Gradient codes in Python: messages and gradients are arrays of their owner, of float32 or
// float64, and no copy is made of them.
#include <fmt/format.h>

#include <algorithm>

#include "binding.hpp"
#include "paceline/apply.hpp"
#include "paceline/code_catalog.hpp"

namespace paceline::python {
namespace {

/// Numbers in somebody's memory, one after the other.
struct Numbers {
  void* data = nullptr;
  std::size_t size = 0;
  bool is_double = false;

  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(data), size};
  }
};

/// @param name  of the argument, for errors
bool is_double(const py::buffer_info& info, const std::string& name) {
  if (info.format == py::format_descriptor<double>::format()) return true;
  if (info.format == py::format_descriptor<float>::format()) return false;
  raise_value_error(fmt::format(
      "{} has numbers of format '{}'; float32 or float64 is expected", name, info.format));
}

void check_row(const py::buffer_info& info, const std::string& name) {
  const auto last = static_cast<std::size_t>(info.ndim - 1);
  if (info.shape[last] <= 1 || info.strides[last] == info.itemsize) return;
  raise_value_error(
      fmt::format("{} is not contiguous; numpy.ascontiguousarray makes a copy that is", name));
}

/// The buffer of an argument. @param writable  an error unless it may be written to
py::buffer_info buffer_of(const py::handle& object,
                          const std::string& name,
                          bool writable = false) {
  if (!PyObject_CheckBuffer(object.ptr())) {
    raise_value_error(fmt::format(
        "{} is no array; numpy arrays and other buffers are allowed (of a tensor: tensor.numpy())",
        name));
  }
  try {
    return py::reinterpret_borrow<py::buffer>(object).request(writable);
  } catch (const py::error_already_set&) {
    raise_value_error(fmt::format("{} is read-only", name));
  }
}

Numbers vector_of(const py::buffer_info& info, const std::string& name) {
  if (info.ndim != 1) {
    raise_value_error(fmt::format("{} has {} dimensions; 1 is expected", name, info.ndim));
  }
  const bool wide = is_double(info, name);
  check_row(info, name);
  return {info.ptr, static_cast<std::size_t>(info.shape[0]), wide};
}

/// An array (rows, numbers), or a sequence of vectors, some of which may be None.
class Rows {
 public:
  Rows(const py::object& object, std::size_t rows, const std::string& name) : numbers_(rows) {
    if (PyObject_CheckBuffer(object.ptr())) {
      const py::buffer_info& info = buffers_.emplace_back(buffer_of(object, name));
      if (info.ndim != 2) {
        raise_value_error(fmt::format(
            "{} has {} dimensions; 2 are expected, or a list of vectors", name, info.ndim));
      }
      check_count(static_cast<std::size_t>(info.shape[0]), rows, name);
      const bool wide = is_double(info, name);
      check_row(info, name);
      for (std::size_t i = 0; i < rows; ++i) {
        numbers_[i] = {
            static_cast<char*>(info.ptr) + static_cast<std::ptrdiff_t>(i) * info.strides[0],
            static_cast<std::size_t>(info.shape[1]),
            wide};
      }
      return;
    }
    if (!PySequence_Check(object.ptr())) {
      raise_value_error(fmt::format("{} are neither an array nor a list of arrays", name));
    }
    const auto list = py::reinterpret_borrow<py::sequence>(object);
    check_count(list.size(), rows, name);
    buffers_.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      const py::object row = list[i];
      if (row.is_none()) continue;
      const std::string row_name = fmt::format("{}[{}]", name, i);
      numbers_[i] = vector_of(buffers_.emplace_back(buffer_of(row, row_name)), row_name);
    }
  }

  const Numbers& operator[](std::size_t i) const { return numbers_[i]; }

  std::size_t size() const { return numbers_.size(); }

  template <class T>
  std::vector<std::span<const T>> spans() const {
    std::vector<std::span<const T>> all;
    for (const Numbers& numbers : numbers_) all.push_back(numbers.as<const T>());
    return all;
  }

 private:
  static void check_count(std::size_t count, std::size_t rows, const std::string& name) {
    if (count == rows) return;
    raise_value_error(fmt::format("there are {} {}; {} are expected", count, name, rows));
  }

  std::vector<py::buffer_info> buffers_;
  std::vector<Numbers> numbers_;
};

/// Workers by number, or as one bool per worker.
WorkerSet set_of(const py::object& answered, int workers) {
  WorkerSet set(workers);
  if (PyObject_CheckBuffer(answered.ptr())) {
    const py::buffer_info info = buffer_of(answered, "answered");
    if (info.format == py::format_descriptor<bool>::format()) {
      if (info.ndim != 1 || info.shape[0] != workers) {
        raise_value_error(
            fmt::format("answered, as an array of bool, holds one per worker: {}", workers));
      }
      for (int i = 0; i < workers; ++i) {
        if (*(static_cast<const char*>(info.ptr) + i * info.strides[0]) != 0)
          set.insert(WorkerId{i});
      }
      return set;
    }
  }
  for (const py::handle item : answered) {
    if (PyIndex_Check(item.ptr()) == 0) {
      raise_value_error(
          "answered holds numbers of workers, or is a numpy array with one bool per worker");
    }
    const auto worker = py::reinterpret_steal<py::object>(PyNumber_Index(item.ptr())).cast<long>();
    if (worker < 0 || worker >= workers) {
      raise_value_error(fmt::format("worker {} is not allowed; 0 ... {}", worker, workers - 1));
    }
    set.insert(WorkerId{static_cast<int>(worker)});
  }
  return set;
}

/// Where an out argument lies, or a new array.
struct Out {
  py::object array;
  Numbers numbers;
};

Out out_of(const py::object& given, std::size_t length, bool wide) {
  if (given.is_none()) {
    const auto shape = static_cast<py::ssize_t>(length);
    py::array array =
        wide ? py::array(py::array_t<double>(shape)) : py::array(py::array_t<float>(shape));
    void* data = array.mutable_data();
    return {std::move(array), {data, length, wide}};
  }
  const py::buffer_info info = buffer_of(given, "out", true);
  const Numbers numbers = vector_of(info, "out");
  if (numbers.size != length || numbers.is_double != wide) {
    raise_value_error(fmt::format("out holds {} numbers of float{}; {} of float{} are expected",
                                  numbers.size,
                                  numbers.is_double ? 64 : 32,
                                  length,
                                  wide ? 64 : 32));
  }
  return {given, numbers};
}

template <class T>
void encode_row(const GradientCode& code, const Row& row, const Rows& gradients, std::span<T> out) {
  std::ranges::fill(out, T{0});
  const auto parts = static_cast<std::size_t>(code.shape.parts);
  const auto pieces = static_cast<std::size_t>(code.shape.pieces());
  for (const Term& term : row.terms()) {
    for (int i = 0; i < term.count; ++i) {
      const auto gradient =
          gradients[static_cast<std::size_t>(term.chunk.value + i)].template as<const T>();
      const std::size_t size = term.part == kWhole ? gradient.size() : gradient.size() / parts;
      const T* from =
          gradient.data() + (term.part == kWhole ? 0 : static_cast<std::size_t>(term.part) * size);
      T* to = out.data() + (term.segment == kWhole
                                ? 0
                                : static_cast<std::size_t>(term.segment) * (out.size() / pieces));
      for (std::size_t j = 0; j < size; ++j) to[j] += static_cast<T>(term.weight) * from[j];
    }
  }
}

py::object encode(const GradientCode& code,
                  int worker,
                  const py::object& gradients,
                  const py::object& out) {
  if (worker < 0 || worker >= code.workers()) {
    raise_value_error(
        fmt::format("worker {} is not allowed; 0 ... {}", worker, code.workers() - 1));
  }
  const Rows rows(gradients, static_cast<std::size_t>(code.chunks), "gradients");
  const Row& row = code.row(WorkerId{worker});
  std::optional<Numbers> first;
  for (const Term& term : row.terms()) {
    for (int i = 0; i < term.count; ++i) {
      const int chunk = term.chunk.value + i;
      const Numbers& numbers = rows[static_cast<std::size_t>(chunk)];
      if (!first) first = numbers;
      if (numbers.data == nullptr || numbers.size != first->size ||
          numbers.is_double != first->is_double) {
        raise_value_error(fmt::format(
            "gradients[{}] is missing, or of another length or type than the first", chunk));
      }
    }
  }
  if (!first) raise_value_error(fmt::format("worker {} computes nothing", worker));
  const auto parts = static_cast<std::size_t>(code.shape.parts);
  if (first->size % parts != 0) {
    raise_value_error(fmt::format(
        "gradients of {} numbers cannot be cut into {} parts; pad them to padded_length({})",
        first->size,
        parts,
        first->size));
  }
  Out result = out_of(out, code.shape.message_length(first->size), first->is_double);
  {
    const py::gil_scoped_release release;
    if (first->is_double) {
      encode_row(code, row, rows, result.numbers.as<double>());
    } else {
      encode_row(code, row, rows, result.numbers.as<float>());
    }
  }
  return result.array;
}

py::object apply_to(const GradientCode& code,
                    const Combination& combination,
                    const py::object& messages,
                    const py::object& out) {
  const Rows rows(messages, static_cast<std::size_t>(code.workers()), "messages");
  const Numbers* first = nullptr;
  for (const WorkerWeight& term : combination.terms) {
    const Numbers& numbers = rows[term.worker.index()];
    if (numbers.data == nullptr) {
      raise_value_error(
          fmt::format("messages[{}] is None, but the decoding needs it", term.worker.value));
    }
    if (first == nullptr) first = &numbers;
    if (numbers.size != first->size || numbers.is_double != first->is_double) {
      raise_value_error(fmt::format("messages[{}] is of another length or type than the first",
                                    term.worker.value));
    }
  }
  if (first == nullptr) raise_value_error("the decoding uses no message");
  const auto pieces = static_cast<std::size_t>(code.shape.pieces());
  if (first->size == 0 || first->size % pieces != 0) {
    raise_value_error(
        fmt::format("messages of {} numbers; a multiple of {} is expected", first->size, pieces));
  }
  const std::size_t length = first->size / pieces * static_cast<std::size_t>(code.shape.parts);
  Out result = out_of(out, length, first->is_double);
  {
    const py::gil_scoped_release release;
    if (first->is_double) {
      apply(code, combination, rows.spans<double>(), result.numbers.as<double>());
    } else {
      apply(code, combination, rows.spans<float>(), result.numbers.as<float>());
    }
  }
  return result.array;
}

/// G: a row per worker and segment, a column per chunk and part.
py::array_t<double> matrix_of(const GradientCode& code) {
  const int parts = code.shape.parts;
  const int pieces = code.shape.pieces();
  py::array_t<double> matrix({code.workers() * pieces, code.chunks * parts});
  auto at = matrix.mutable_unchecked<2>();
  std::fill_n(matrix.mutable_data(), matrix.size(), 0.0);
  for (int worker = 0; worker < code.workers(); ++worker) {
    for (const Term& term : code.row(WorkerId{worker}).terms()) {
      for (int i = 0; i < term.count; ++i) {
        for (int part = 0; part < parts; ++part) {
          if (term.part != kWhole && term.part != part) continue;
          const int segment = term.segment == kWhole ? (pieces == 1 ? 0 : part) : term.segment;
          at(worker * pieces + segment, (term.chunk.value + i) * parts + part) += term.weight;
        }
      }
    }
  }
  return matrix;
}

/// a: a row per worker and segment as the matrix, a column per part.
py::array_t<double> vector_of_weights(const GradientCode& code, const Combination& combination) {
  const int parts = code.shape.parts;
  const int pieces = code.shape.pieces();
  py::array_t<double> weights({code.workers() * pieces, parts});
  auto at = weights.mutable_unchecked<2>();
  std::fill_n(weights.mutable_data(), weights.size(), 0.0);
  for (const WorkerWeight& term : combination.terms) {
    for (int part = 0; part < parts; ++part) {
      if (term.part != kWhole && term.part != part) continue;
      const int segment = term.segment == kWhole ? (pieces == 1 ? 0 : part) : term.segment;
      at(term.worker.value * pieces + segment, part) += term.weight;
    }
  }
  return parts == 1 ? weights.reshape({py::ssize_t{-1}}) : weights;
}

/// A decoding, and the code it belongs to.
struct PythonDecoding {
  std::shared_ptr<const GradientCode> code;
  Combination combination;
};

std::vector<int> used_workers(const PythonDecoding& decoding) {
  WorkerSet used(decoding.code->workers());
  for (const WorkerWeight& term : decoding.combination.terms) used.insert(term.worker);
  std::vector<int> workers;
  used.for_each([&](WorkerId worker) { workers.push_back(worker.value); });
  return workers;
}

/// The code is shared by its decodings.
struct PythonCode {
  std::shared_ptr<const GradientCode> code;
};

PythonCode make_python_code(const std::string& text,
                            int workers,
                            std::uint64_t seed,
                            bool keep_promise) {
  if (workers < 1) raise_value_error(fmt::format("workers={} is not allowed; at least 1", workers));
  std::optional<Expected<GradientCode>> code;
  {
    const py::gil_scoped_release release;
    code = make_code(text,
                     CodeContext{.workers = workers, .seed = seed, .keep_promise = keep_promise});
  }
  return {std::make_shared<const GradientCode>(must(*std::move(code)))};
}

std::optional<PythonDecoding> decode(const PythonCode& self, const py::object& answered) {
  const WorkerSet set = set_of(answered, self.code->workers());
  std::optional<Combination> combination;
  {
    const py::gil_scoped_release release;
    combination = self.code->decode(set);
  }
  if (!combination) return std::nullopt;
  return PythonDecoding{self.code, *std::move(combination)};
}

py::list catalog() {
  py::list all;
  for (const CodeDescription& code : code_catalog()) {
    py::list parameters;
    for (const CodeParameter& parameter : code.parameters) {
      parameters.append(py::dict(py::arg("name") = parameter.name,
                                 py::arg("allowed") = parameter.allowed,
                                 py::arg("meaning") = parameter.meaning));
    }
    all.append(py::dict(py::arg("name") = code.name,
                        py::arg("summary") = code.summary,
                        py::arg("exact") = code.exact,
                        py::arg("parameters") = parameters,
                        py::arg("load") = code.load,
                        py::arg("source") = code.source));
  }
  return all;
}

}  // namespace

void add_codes(py::module_& module) {
  module.def("codes", catalog, "Every gradient code: a list of dicts.");

  py::class_<PythonDecoding>(
      module, "Decoding", "How the answers of some workers make the gradient.")
      .def_property_readonly(
          "workers", [](const PythonDecoding& self) { return to_array(used_workers(self)); })
      .def_property_readonly("vector",
                             [](const PythonDecoding& self) {
                               return vector_of_weights(*self.code, self.combination);
                             })
      .def_property_readonly("residual",
                             [](const PythonDecoding& self) { return self.combination.residual; })
      .def_property_readonly(
          "amplification",
          [](const PythonDecoding& self) { return self.combination.amplification; })
      .def(
          "apply",
          [](const PythonDecoding& self, const py::object& messages, const py::object& out) {
            return apply_to(*self.code, self.combination, messages, out);
          },
          py::arg("messages"),
          py::arg("out") = py::none(),
          "The gradient: the weighted sum of the messages.");

  py::class_<PythonCode>(
      module, "Code", "A gradient code: who computes what, and how answers are combined.")
      .def(py::init(&make_python_code),
           py::arg("text"),
           py::kw_only(),
           py::arg("workers"),
           py::arg("seed") = 0,
           py::arg("keep_promise") = true)
      .def_property_readonly("name", [](const PythonCode& self) { return self.code->name; })
      .def_property_readonly("exact", [](const PythonCode& self) { return self.code->exact; })
      .def_property_readonly("workers", [](const PythonCode& self) { return self.code->workers(); })
      .def_property_readonly("chunks", [](const PythonCode& self) { return self.code->chunks; })
      .def_property_readonly("tolerance",
                             [](const PythonCode& self) { return self.code->tolerance; })
      .def_property_readonly("load", [](const PythonCode& self) { return self.code->load; })
      .def_property_readonly("parts", [](const PythonCode& self) { return self.code->shape.parts; })
      .def_property_readonly("segments",
                             [](const PythonCode& self) { return self.code->shape.pieces(); })
      .def_property_readonly("chunk_size",
                             [](const PythonCode& self) { return to_array(self.code->chunk_size); })
      .def_property_readonly("matrix", [](const PythonCode& self) { return matrix_of(*self.code); })
      .def(
          "row",
          [](const PythonCode& self, int worker) {
            if (worker < 0 || worker >= self.code->workers()) {
              raise_value_error(fmt::format(
                  "worker {} is not allowed; 0 ... {}", worker, self.code->workers() - 1));
            }
            std::vector<std::pair<int, double>> terms;
            for (const Term& term : self.code->row(WorkerId{worker}).terms()) {
              for (int i = 0; i < term.count; ++i)
                terms.emplace_back(term.chunk.value + i, term.weight);
            }
            return terms;
          },
          py::arg("worker"),
          "What a worker adds up: (chunk, weight) pairs.")
      .def(
          "message_length",
          [](const PythonCode& self, std::size_t length) {
            return self.code->shape.message_length(length);
          },
          py::arg("length"))
      .def(
          "padded_length",
          [](const PythonCode& self, std::size_t length) {
            const auto parts = static_cast<std::size_t>(self.code->shape.parts);
            return (length + parts - 1) / parts * parts;
          },
          py::arg("length"))
      .def(
          "decodable",
          [](const PythonCode& self, const py::object& answered) {
            return self.code->decodable(set_of(answered, self.code->workers()));
          },
          py::arg("answered"))
      .def("decode",
           decode,
           py::arg("answered"),
           "How these answers make the gradient; None if they do not.")
      .def(
          "encode",
          [](const PythonCode& self,
             int worker,
             const py::object& gradients,
             const py::object& out) { return encode(*self.code, worker, gradients, out); },
          py::arg("worker"),
          py::arg("gradients"),
          py::arg("out") = py::none(),
          "The message of a worker, of the gradients of the chunks.")
      .def("__repr__", [](const PythonCode& self) {
        return fmt::format("<paceline.Code {}, {} workers, {} chunks>",
                           self.code->name,
                           self.code->workers(),
                           self.code->chunks);
      });
}

}  // namespace paceline::python
