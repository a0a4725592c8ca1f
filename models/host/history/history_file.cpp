// Writing and reading .ithistory files.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/core/digest.hpp"
#include "models/host/history/compression.hpp"
#include "models/host/history/history.hpp"
#include "models/host/history/many_problems.hpp"
#include "models/schema/history_generated.h"

namespace idletune {

static_assert(FLATBUFFERS_LITTLEENDIAN == 1, "columns are stored as little-endian values");

namespace {

using history_schema::Cells;
using history_schema::Column;
using history_schema::HistoryFile;

constexpr std::uint32_t kManyProblems = 2;  // the format's version of files that hold Problems
constexpr std::size_t kMaxColumnBytes = std::size_t{1} << 30;  // of all columns together

// --- writing ---

using Builder = flatbuffers::FlatBufferBuilder;

template <class T>
flatbuffers::Offset<Column> write_column(Builder& builder, const T* data, std::size_t count) {
  const Bytes raw(reinterpret_cast<const std::uint8_t*>(data), count * sizeof(T));
  const auto bytes = builder.CreateVector(deflate_bytes(raw));
  return history_schema::CreateColumn(builder, static_cast<std::uint8_t>(sizeof(T)), raw.size(),
                                      crc32c(raw), bytes);
}

template <class T>
flatbuffers::Offset<Column> write_column(Builder& builder, const std::vector<T>& values) {
  return write_column(builder, values.data(), values.size());
}

flatbuffers::Offset<Cells> write_cells(Builder& builder, const CellColumn& cells) {
  std::string texts;
  for (const std::string& text : cells.texts()) texts.append(text).push_back('\0');
  const auto name = builder.CreateString(cells.name());
  const auto kinds = write_column(builder, cells.kinds());
  const auto bits = write_column(builder, cells.bits());
  const auto text_column = write_column(builder, texts.data(), texts.size());
  return history_schema::CreateCells(builder, name, kinds, bits, text_column);
}

auto write_all_cells(Builder& builder, const std::vector<CellColumn>& columns) {
  std::vector<flatbuffers::Offset<Cells>> offsets;
  offsets.reserve(columns.size());
  for (const CellColumn& column : columns) offsets.push_back(write_cells(builder, column));
  return builder.CreateVector(offsets);
}

auto write_notes(Builder& builder, const History& history) {
  std::vector<flatbuffers::Offset<history_schema::Note>> offsets;
  for (const auto& [key, text] : history.notes) {
    const auto key_offset = builder.CreateString(key);
    offsets.push_back(history_schema::CreateNote(builder, key_offset, builder.CreateString(text)));
  }
  return builder.CreateVector(offsets);
}

auto write_problems(Builder& builder, Span<const History> histories) {
  const Shape& first = histories[0].shape;
  std::vector<std::uint32_t> rows;
  std::vector<std::int64_t> dimensions;
  std::vector<double> features;
  std::vector<std::uint64_t> valid_count;
  CellColumn notes("notes");
  CellColumn warnings("warnings");
  for (const History& history : histories) {
    rows.push_back(static_cast<std::uint32_t>(history.rows()));
    const Span<const std::int64_t> values = history.shape.values();
    dimensions.insert(dimensions.end(), values.begin(), values.end());
    for (std::size_t i = 0; i < first.feature_count(); ++i)
      features.push_back(history.shape.feature(i));
    valid_count.push_back(history.valid_count);
    std::vector<std::string> parts;
    for (const auto& [key, text] : history.notes) parts.insert(parts.end(), {key, text});
    notes.push_text(joined_parts(parts));
    warnings.push_text(joined_parts(history.warnings));
  }
  const auto rows_column = write_column(builder, rows);
  const auto dimensions_column = write_column(builder, dimensions);
  const auto features_column = write_column(builder, features);
  const auto valid_column = write_column(builder, valid_count);
  const auto notes_column = write_cells(builder, notes);
  const auto warnings_column = write_cells(builder, warnings);
  return history_schema::CreateProblems(builder, static_cast<std::uint8_t>(first.size()),
                                        static_cast<std::uint8_t>(first.feature_count()),
                                        rows_column, dimensions_column, features_column,
                                        valid_column, notes_column, warnings_column);
}

// Of `histories`, whose rows are those of `history`; of none, a file of `history` alone.
std::vector<std::uint8_t> write_file(const History& history, Span<const History> histories) {
  Builder builder(std::size_t{1} << 20);
  const auto kernel = builder.CreateString(history.kernel);
  const auto device = builder.CreateString(history.device);
  const auto driver = builder.CreateString(history.driver);
  const auto shape = builder.CreateVector(history.shape.data(), history.shape.size());
  const auto parameters = write_all_cells(builder, history.parameters);
  const auto status = write_column(builder, history.status);
  const auto run_time = write_column(builder, history.run_time);
  const auto compile_time = write_column(builder, history.compile_time);
  const auto sample_count = write_column(builder, history.sample_count);
  const auto samples = write_column(builder, history.samples);
  const auto extras = write_all_cells(builder, history.extras);
  const auto notes = write_notes(builder, history);
  const auto warnings = builder.CreateVectorOfStrings(history.warnings);
  const auto constraints =
      history.constraints.empty()
          ? flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>>()
          : builder.CreateVectorOfStrings(history.constraints);
  const auto inputs =
      history.inputs.empty()
          ? flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>>()
          : builder.CreateVectorOfStrings(history.inputs);
  const auto problems = histories.empty() ? flatbuffers::Offset<history_schema::Problems>()
                                          : write_problems(builder, histories);
  history_schema::HistoryFileBuilder file(builder);
  file.add_format_version(histories.empty() ? 1 : kManyProblems);
  file.add_nanoseconds_per_unit(history.nanoseconds_per_unit);
  file.add_rows(history.rows());
  file.add_kernel(kernel);
  file.add_device(device);
  file.add_driver(driver);
  file.add_shape(shape);
  file.add_parameters(parameters);
  file.add_status(status);
  file.add_run_time(run_time);
  file.add_compile_time(compile_time);
  file.add_sample_count(sample_count);
  file.add_samples(samples);
  file.add_extras(extras);
  file.add_notes(notes);
  file.add_warnings(warnings);
  file.add_valid_count(history.valid_count);
  file.add_constraints(constraints);
  file.add_inputs(inputs);
  file.add_problems(problems);
  history_schema::FinishHistoryFileBuffer(builder, file.Finish());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// --- reading ---

// Collects the first thing that is wrong, so that the reading code stays straight.
class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}
  bool ok() const { return status_.ok(); }
  Status status() const { return status_; }
  void fail(StatusCode code, const std::string& what) {
    if (ok()) status_ = Status(code, "history '" + name_ + "': " + what);
  }
  void require(bool condition, const std::string& what) {
    if (!condition) fail(StatusCode::corrupt, what);
  }

  // The column's values; `count` of them, or any number if it is SIZE_MAX.
  template <class T>
  std::vector<T> column(const Column& column, std::size_t count, const std::string& what) {
    std::vector<T> values;
    if (column.raw_bytes() > bytes_left_) {
      fail(StatusCode::out_of_memory, "its columns are larger than 1 GiB in all");
      return values;
    }
    bytes_left_ -= static_cast<std::size_t>(column.raw_bytes());
    require(column.element_bytes() == sizeof(T),
            "column " + what + " has elements of another size");
    require(column.raw_bytes() % sizeof(T) == 0, "column " + what + " has a broken length");
    const std::size_t size = static_cast<std::size_t>(column.raw_bytes() / sizeof(T));
    require(count == SIZE_MAX || size == count, "column " + what + " has " + std::to_string(size) +
                                                    " values, expected " + std::to_string(count));
    if (!ok()) return values;
    const Bytes compressed(column.data()->data(), column.data()->size());
    Result<std::vector<std::uint8_t>> raw = inflate_bytes(compressed, size * sizeof(T));
    require(raw.ok(), "column " + what + ": " + raw.status().message());
    if (!ok()) return values;
    require(crc32c(*raw) == column.crc(), "column " + what + " does not match its checksum");
    if (!ok()) return values;
    values.resize(size);
    if (size > 0) std::memcpy(static_cast<void*>(values.data()), raw->data(), raw->size());
    return values;
  }

  CellColumn cells(const Cells& stored, std::size_t rows) {
    const std::string name = stored.name()->str();
    auto kinds = column<CellKind>(*stored.kinds(), rows, name + ".kinds");
    auto bits = column<std::uint64_t>(*stored.bits(), rows, name + ".bits");
    const auto text_bytes = column<char>(*stored.texts(), SIZE_MAX, name + ".texts");
    std::vector<std::string> texts = split(text_bytes, name);
    for (std::size_t row = 0; ok() && row < rows; ++row) {
      const auto kind = static_cast<std::uint8_t>(kinds[row]);
      require(kind < kCellKindCount, "column " + name + " has a value of unknown kind");
      const bool is_text = kinds[row] == CellKind::text || kinds[row] == CellKind::json;
      require(!is_text || bits[row] < texts.size(), "column " + name + " has a text out of range");
    }
    if (!ok()) return CellColumn();
    return CellColumn::from_parts(name, std::move(kinds), std::move(bits), std::move(texts));
  }

 private:
  std::vector<std::string> split(const std::vector<char>& bytes, const std::string& name) {
    std::vector<std::string> texts;
    require(bytes.empty() || bytes.back() == '\0', "column " + name + " has an unended text");
    if (!ok()) return texts;
    for (std::size_t begin = 0; begin < bytes.size();) {
      texts.emplace_back(bytes.data() + begin);
      begin += texts.back().size() + 1;
    }
    return texts;
  }

  std::string name_;
  Status status_;
  std::size_t bytes_left_ = kMaxColumnBytes;
};

void check_rows(Reader& reader, const History& history) {
  std::size_t total = 0;
  for (std::size_t row = 0; reader.ok() && row < history.rows(); ++row) {
    const auto status = static_cast<std::uint8_t>(history.status[row]);
    const std::string place = "row " + std::to_string(row);
    reader.require(status < kTrialStatusCount, place + " has an unknown status");
    const bool timed = std::isfinite(history.run_time[row]) && history.run_time[row] > 0;
    reader.require(!history.correct(row) || timed, place + " is correct but has no run time");
    total += history.sample_count[row];
  }
  reader.require(total == history.samples.size(), "the samples do not add up");
  for (const CellColumn& parameter : history.parameters) {
    const auto& kinds = parameter.kinds();
    reader.require(std::find(kinds.begin(), kinds.end(), CellKind::absent) == kinds.end(),
                   "parameter " + parameter.name() + " has no value in some row");
  }
}

void read_header(Reader& reader, const HistoryFile& file, History& history) {
  history.kernel = file.kernel()->str();
  history.device = file.device()->str();
  if (file.driver() != nullptr) history.driver = file.driver()->str();
  if (file.shape() != nullptr) {
    reader.require(file.shape()->size() <= kMaxDimensions, "its shape has too many dimensions");
    const bool aligned =
        file.shape()->size() == 0 ||
        reinterpret_cast<std::uintptr_t>(file.shape()->Data()) % alignof(std::int64_t) == 0;
    reader.require(aligned, "its shape is not aligned");  // the verifier looks at the length only
    if (!reader.ok()) return;
    for (const std::int64_t dimension : *file.shape()) history.shape.push_back(dimension);
  }
  history.nanoseconds_per_unit = file.nanoseconds_per_unit();
  history.valid_count = file.valid_count();
  reader.require(std::isfinite(history.nanoseconds_per_unit) && history.nanoseconds_per_unit > 0,
                 "its unit of time is not a positive number");
  if (file.notes() != nullptr) {
    for (const auto* note : *file.notes())
      history.notes.emplace_back(note->key()->str(), note->text()->str());
  }
  if (file.constraints() != nullptr) {
    for (const auto* constraint : *file.constraints())
      history.constraints.push_back(constraint->str());
  }
  if (file.inputs() != nullptr) {
    for (const auto* input : *file.inputs()) history.inputs.push_back(input->str());
  }
  if (file.warnings() != nullptr) {
    for (const auto* warning : *file.warnings()) history.warnings.push_back(warning->str());
  }
}

StoredProblems read_problems(Reader& reader, const history_schema::Problems& stored,
                             const History& all) {
  StoredProblems problems;
  reader.require(
      stored.dimension_count() <= kMaxDimensions && stored.feature_count() <= kMaxFeatures,
      "its problems have too many dimensions or features");
  if (!reader.ok()) return problems;
  problems.rows = reader.column<std::uint32_t>(*stored.rows(), SIZE_MAX, "problems.rows");
  const std::size_t count = problems.rows.size();
  std::size_t rows = 0;
  for (const std::uint32_t own : problems.rows) {
    reader.require(own > 0, "a problem has no rows");
    rows += own;
  }
  reader.require(count > 0 && rows == all.rows(), "the rows of its problems do not add up");
  problems.dimensions = reader.column<std::int64_t>(
      *stored.dimensions(), count * stored.dimension_count(), "problems.dimensions");
  problems.features = reader.column<double>(*stored.features(), count * stored.feature_count(),
                                            "problems.features");
  for (const double feature : problems.features)
    reader.require(std::isfinite(feature) && feature >= 0, "a problem's feature is no number");
  problems.valid_count =
      reader.column<std::uint64_t>(*stored.valid_count(), count, "problems.valid_count");
  if (!reader.ok()) return problems;
  problems.notes = reader.cells(*stored.notes(), count);
  if (reader.ok()) problems.warnings = reader.cells(*stored.warnings(), count);
  for (const CellColumn* column : {&problems.notes, &problems.warnings}) {
    for (const CellKind kind : column->kinds())
      reader.require(kind == CellKind::text, "a problem's notes are no text");
  }
  return problems;
}

}  // namespace

std::vector<std::uint8_t> write_histories(Span<const History> histories) {
  const Shape& shape_of_first = histories[0].shape;
  if (histories.size() == 1 && shape_of_first.feature_count() == 0)
    return write_history(histories[0]);
  History all;
  all.kernel = histories[0].kernel;
  all.device = histories[0].device;
  all.driver = histories[0].driver;
  all.inputs = histories[0].inputs;
  all.nanoseconds_per_unit = histories[0].nanoseconds_per_unit;
  all.constraints = histories[0].constraints;
  for (const History& history : histories) append_rows(history, all);
  return write_file(all, histories);
}

std::vector<std::uint8_t> write_history(const History& history) {
  if (history.shape.feature_count() > 0) return write_histories({&history, 1});
  return write_file(history, {});
}

Result<std::vector<History>> read_histories(Bytes bytes, const std::string& name) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) {
    const std::vector<std::uint8_t> aligned(bytes.begin(), bytes.end());
    return read_histories(aligned, name);
  }
  Reader reader(name);
  if (bytes.size() < 16 || !history_schema::HistoryFileBufferHasIdentifier(bytes.data())) {
    reader.fail(StatusCode::corrupt, "is not a history file (expected identifier ITH1 at byte 4)");
    return reader.status();
  }
  // No table of ours takes fewer bytes, however many columns and notes there are.
  constexpr std::size_t kLeastTableBytes = 16;
  flatbuffers::Verifier verifier(
      bytes.data(), bytes.size(), 8,
      static_cast<flatbuffers::uoffset_t>(bytes.size() / kLeastTableBytes));
  reader.require(history_schema::VerifyHistoryFileBuffer(verifier), "its structure is damaged");
  if (!reader.ok()) return reader.status();
  const HistoryFile& file = *history_schema::GetHistoryFile(bytes.data());
  if (file.format_version() != 1 && file.format_version() != kManyProblems) {
    reader.fail(StatusCode::version_mismatch,
                "format version " + std::to_string(file.format_version()) + ", expected 1 or 2");
  }
  const bool many = file.problems() != nullptr;
  reader.require(many == (file.format_version() == kManyProblems),
                 "its version does not say whether it holds many problems");
  reader.require(file.parameters()->size() <= kMaxParameters, "it has more than 32 parameters");
  reader.require(file.rows() < kMaxColumnBytes / 8, "it has too many rows");
  if (!reader.ok()) return reader.status();

  History history;
  const std::size_t rows = static_cast<std::size_t>(file.rows());
  read_header(reader, file, history);
  history.status = reader.column<TrialStatus>(*file.status(), rows, "status");
  history.run_time = reader.column<double>(*file.run_time(), rows, "run_time");
  history.compile_time = reader.column<double>(*file.compile_time(), rows, "compile_time");
  history.sample_count = reader.column<std::uint32_t>(*file.sample_count(), rows, "sample_count");
  history.samples = reader.column<double>(*file.samples(), SIZE_MAX, "samples");
  for (const auto* cells : *file.parameters()) {
    if (reader.ok()) history.parameters.push_back(reader.cells(*cells, rows));
  }
  if (file.extras() != nullptr) {
    for (const auto* cells : *file.extras()) {
      if (reader.ok()) history.extras.push_back(reader.cells(*cells, rows));
    }
  }
  if (reader.ok()) check_rows(reader, history);
  StoredProblems problems;
  if (reader.ok() && many) problems = read_problems(reader, *file.problems(), history);
  if (!reader.ok()) return reader.status();
  if (many) {
    return taken_apart(history, problems, file.problems()->dimension_count(),
                       file.problems()->feature_count());
  }
  std::vector<History> one;
  one.push_back(std::move(history));
  return one;
}

Result<History> read_history(Bytes bytes, const std::string& name) {
  Result<std::vector<History>> histories = read_histories(bytes, name);
  if (!histories.ok()) return histories.status();
  if (histories->size() == 1) return std::move(histories->front());
  return Status(StatusCode::unsupported, "history '" + name + "': it holds " +
                                             std::to_string(histories->size()) +
                                             " problems, expected one");
}

}  // namespace idletune
