#include "agent/host/lab/verbs/published_tables.hpp"

#include "agent/host/lab/learners/sparse_as_published.hpp"

namespace idletune::cli {
namespace {

using sparse::PublishedFigures;
using sparse::PublishedKernel;
using sparse::PublishedRows;
using sparse::PublishedSplit;

constexpr std::uint64_t kSeed = 1;
constexpr const char* kTheirColumns[] = {"HD7970.s", "HD7970.d",   "X1960.s",
                                         "X1960.d",  "i7-3960X.s", "i7-3960X.d"};
constexpr const char* kRows[] = {"train.rbf", "test.rbf", "train.poly", "test.poly"};

struct PublishedTable {
  int number;
  const char* title;
  bool of_products;
  bool of_accuracy;
  const char* theirs[4][6];
};

constexpr PublishedTable kTables[] = {
    {4,
     "accuracy in %, products",
     true,
     true,
     {{"100", "100", "100", "100", "100", "100"},
      {"93.46", "94.32", "87.78", "86.08", "83.81", "83.52"},
      {"77.08", "75.09", "81.63", "82.76", "83.05", "83.14"},
      {"94.32", "93.46", "87.78", "86.08", "83.81", "83.52"}}},
    {5,
     "accuracy in %, sums of vectors",
     false,
     true,
     {{"100", "100", "100", "100", "100", "100"},
      {"1.7", "1.32", "96.21", "93.18", "3.22", "2.84"},
      {"42.8", "39.77", "56.44", "60.6", "45.45", "44.06"},
      {"99.81", "100", "95.08", "91.18", "98.3", "98.67"}}},
    {6,
     "mean squared error, products",
     true,
     false,
     {{"0.0001", "0.0001", "0.0001", "0.0001", "0.0001", "0.0001"},
      {"0.38", "0.28", "0.07", "0.07", "1.7", "1.6"},
      {"1.58", "1.37", "0.23", "0.2", "4.97", "4.67"},
      {"0.24", "0.21", "0.09", "0.09", "2.21", "2.07"}}},
    {7,
     "mean squared error, sums of vectors",
     false,
     false,
     {{"0.0001", "0.0001", "0.00008", "0.00008", "0.00009", "0.00009"},
      {"0.28", "0.27", "0.003", "0.0022", "0.099", "0.097"},
      {"0.98", "0.92", "0.01", "0.01", "0.46", "0.46"},
      {"0.18", "0.17", "0.003", "0.003", "0.14", "0.14"}}}};

// How one of our columns of a table came about.
struct Way {
  const char* head;
  const char* name;  // in JSON
  bool scaled;
  PublishedSplit split;
};

constexpr Way kWays[] = {
    {" drawn", "drawn", false, PublishedSplit::drawn},
    {" in order", "in_order", false, PublishedSplit::in_order},
    {" scaled", "scaled_drawn", true, PublishedSplit::drawn},
    {" by group", "scaled_by_group", true, PublishedSplit::by_group},
};
constexpr std::size_t kWayCount = std::size(kWays);

// Of one history.
struct Column {
  std::string device;
  std::string name;
  bool of_products = false;
  std::size_t rows = 0;
  std::size_t equal_inputs = 0;                 // rows that have the inputs of another one
  PublishedFigures figures[kWayCount][2] = {};  // by way and kernel
};

std::string figure_text(double value, const char* format = "%.4g") {
  if (!std::isfinite(value)) return "overflow";
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

void learn(const PublishedRows& rows, bool of_products, Column& column) {
  column.of_products = of_products;
  column.rows = rows.inputs.size();
  column.equal_inputs = sparse::rows_of_equal_inputs(rows);
  for (std::size_t way = 0; way < kWayCount; ++way) {
    const auto learned = kWays[way].scaled ? sparse::with_scaled_inputs : sparse::as_published;
    for (const PublishedKernel kernel : {PublishedKernel::radial, PublishedKernel::polynomial}) {
      column.figures[way][static_cast<int>(kernel)] =
          must(learned(rows, kernel, of_products ? 4 : 6, kWays[way].split, kSeed));
    }
  }
}

std::vector<Column> columns_of(const std::vector<const History*>& histories) {
  std::vector<Column> columns;
  const auto add = [&](const auto& table, bool single, bool of_products) {
    columns.push_back({table.device, single ? "f32" : "f64"});
    learn(sparse::thinned(sparse::published_rows(table)), of_products, columns.back());
  };
  for (const sparse::Table& table : sparse::tables_of(histories)) {
    add(table, table.number_bytes == 4, true);
  }
  for (const sparse::VectorTable& table : sparse::vector_tables_of(histories)) {
    if (table.kernel.rfind("axpby", 0) != 0) continue;
    add(table, table.kernel == "axpby", false);
  }
  return columns;
}

double figure(const Column& column, const PublishedTable& table, int row, std::size_t way) {
  const PublishedFigures& figures = column.figures[way][row / 2];
  const bool train = row % 2 == 0;
  if (table.of_accuracy) return 100 * (train ? figures.train_accuracy : figures.test_accuracy);
  return train ? figures.train_mse : figures.test_mse;
}

void print_table(const PublishedTable& table, const std::vector<Column>& columns,
                 const CliContext& context) {
  context.print("\ntable " + std::to_string(table.number) + ": " + table.title +
                "; ours (by how rows are divided), theirs\n");
  std::vector<std::string> heads{"  "};
  for (const Column& column : columns) {
    if (column.of_products != table.of_products) continue;
    for (const Way& way : kWays)
      heads.push_back(">" + column.device + " " + column.name + way.head);
  }
  for (const char* name : kTheirColumns) heads.push_back(std::string(">") + name);
  TextTable text(heads);
  for (int row = 0; row < 4; ++row) {
    std::vector<std::string> cells{std::string("  ") + kRows[row]};
    for (const Column& column : columns) {
      if (column.of_products != table.of_products) continue;
      for (std::size_t way = 0; way < kWayCount; ++way)
        cells.push_back(figure_text(figure(column, table, row, way)));
    }
    for (const char* theirs : table.theirs[row]) cells.emplace_back(theirs);
    text.add_row(cells);
  }
  context.print(text);
}

void print_doubts(const std::vector<Column>& columns, const CliContext& context) {
  context.print("\nwhat the test figures are worth (of the test rows)\n");
  TextTable text({"  ", ">rows", ">of equal inputs", ">majority's share", ">balanced accuracy",
                  ">the same answer to", ">variance", ">C"});
  for (const Column& column : columns) {
    for (std::size_t way = 0; way < kWayCount; ++way) {
      for (const int kernel : {0, 1}) {
        const PublishedFigures& figures = column.figures[way][kernel];
        text.add_row(
            {std::string("  ") + (column.of_products ? "products " : "vectors ") + column.device +
                 " " + column.name + (kernel == 0 ? " rbf," : " poly,") + kWays[way].head,
             std::to_string(column.rows), std::to_string(column.equal_inputs),
             figure_text(100 * figures.test_majority, "%.1f %%"),
             figure_text(100 * figures.test_balanced, "%.1f %%"),
             figure_text(100 * figures.same_answer, "%.1f %%"), figure_text(figures.test_variance),
             figure_text(figures.class_cost) + "; " + figure_text(figures.value_cost)});
      }
    }
  }
  context.print(text);
  context.print(
      "\n"
      "Why testing seemed better than training: the inputs are not scaled, so that most rows are\n"
      "hundreds apart. The radial kernel then is 1 for a row with itself and almost 0 else: it "
      "knows\n"
      "its training rows by heart (100 %, an error of epsilon squared) and gives other rows one\n"
      "constant answer. The polynomial's numbers are so large that training ends before it fits.\n"
      "The test accuracy of a constant answer is the share of its label among the test rows,\n"
      "whatever was learned; where the rows are cut, not what was learned, decides whether that "
      "is\n"
      "above the training figure, and equal figures of two kernels mean the same constant answer.\n"
      "The balanced accuracy of a constant answer is 50 %.\n"
      "\n"
      "Scaled, and by group: inputs are sign(x) log2(1 + |x|), of mean 0 and deviation 1;\n"
      "kernels average over them; C is found by five folds. By group: no matrix (no length)\n"
      "stands on both sides. Of rows with equal inputs all but one answer is wrong where their\n"
      "labels differ, on training rows too.\n");
}

json object_of(const PublishedFigures& figures) {
  return IDLETUNE_FIELDS(figures, train_accuracy, test_accuracy, test_majority, test_balanced,
                         same_answer, train_mse, test_mse, test_variance, class_cost, value_cost);
}

}  // namespace

json report_as_published(const std::vector<const History*>& histories, const CliContext& context) {
  const auto columns = columns_of(histories);
  if (!columns.empty() && !context.json()) {
    for (const PublishedTable& table : kTables) print_table(table, columns, context);
    print_doubts(columns, context);
  }
  return list_of(columns, [](const Column& column) {
    json answer = {{"of", column.of_products ? "products" : "vectors"},
                   {"device", column.device},
                   {"precision", column.name},
                   {"rows", column.rows},
                   {"rows_of_equal_inputs", column.equal_inputs}};
    const char* kernels[] = {"radial", "polynomial"};
    for (std::size_t way = 0; way < kWayCount; ++way)
      for (const int kernel : {0, 1})
        answer[kWays[way].name][kernels[kernel]] = object_of(column.figures[way][kernel]);
    return answer;
  });
}

}  // namespace idletune::cli
