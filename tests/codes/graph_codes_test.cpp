// Codes on graphs. Expected values: spec of approximate codes, sections 0.10, 4 and 5 ("exact").
#include <cmath>
#include <set>

#include "codes/approximate_test_support.hpp"
#include "codes/graph_code.hpp"
#include "codes/graphs.hpp"
#include "codes/sparse_decoders.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

TEST(GraphCode, GivesWorkersToSpareEdgesOfTheNextSmallerGraph) {
  const auto refused = make_code("graph:graph=complete,r=5,s=3", CodeContext{.workers = 18});
  ASSERT_FALSE(refused);
  const GradientCode code = testing::code_of("graph:graph=complete,r=5,spare=yes,s=17", 18);
  EXPECT_EQ(code.chunks, 6);
  const GradientCode without = testing::code_of("graph:graph=complete,r=5,s=14", 15);
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(
        std::ranges::equal(code.row(WorkerId{i}).terms(), without.row(WorkerId{i}).terms()));
  }
  std::set<std::pair<int, int>> repeated;
  for (int i = 15; i < 18; ++i) {
    const auto terms = code.row(WorkerId{i}).terms();
    ASSERT_EQ(terms.size(), 2U);
    repeated.insert({terms[0].chunk.value, terms[1].chunk.value});
  }
  EXPECT_EQ(repeated.size(), 3U) << "three different edges are there twice";
  // Without its copies a straggling worker is missed, with one it is not.
  const Eigen::MatrixXd G = testing::matrix(code);
  RandomStream random(1, "stragglers");
  for (int trial = 0; trial < 500; ++trial) {
    WorkerSet answered = WorkerSet::all(18);
    for (int i = 0; i < 18; ++i) {
      if (random.uniform() < 0.6) answered.erase(WorkerId{i});
    }
    EXPECT_NEAR(code.decode(answered)->residual, testing::least_residual(G, answered), 1e-9);
  }
}

using testing::code_of;
using testing::over_all_sets;

Eigen::VectorXd spectrum(const Graph& graph) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(graph.vertices, graph.vertices);
  for (const auto& [u, v] : graph.edges) {  // a loop counts twice
    A(u, v) += 1;
    A(v, u) += 1;
  }
  return testing::spectrum(A);
}

void expect_regular(const Graph& graph) {
  std::vector<int> degree(static_cast<std::size_t>(graph.vertices), 0);
  auto edges = graph.edges;
  std::ranges::sort(edges);
  EXPECT_EQ(std::ranges::adjacent_find(edges), edges.end()) << "a double edge";
  for (const auto& [u, v] : edges) {
    ASSERT_LT(u, v);
    ++degree[static_cast<std::size_t>(u)];
    ++degree[static_cast<std::size_t>(v)];
  }
  EXPECT_TRUE(std::ranges::all_of(degree, [&](int d) { return d == graph.degree; }));
  EXPECT_TRUE(is_connected(graph));
}

TEST(Graphs, AreRegularConnectedAndHaveTheKnownSpectra) {
  for (const Graph& graph : {complete_graph(5),
                             circulant_graph(8, {1, 2}),
                             petersen_graph(),
                             heawood_graph(),
                             cube_graph(3),
                             complete_bipartite_graph(3),
                             paley_graph(13),
                             ramanujan_graph(13, 5)}) {
    expect_regular(graph);
    const Eigen::VectorXd values = spectrum(graph);
    const auto k = values.size();
    const double second = std::max(values[k - 2], -values[0]);
    EXPECT_NEAR(second_eigenvalue(graph), second, 0.02 * second);
  }
  EXPECT_NEAR(spectrum(petersen_graph())[0], -2, 1e-12);
  EXPECT_NEAR(spectrum(petersen_graph())[8], 1, 1e-12);
  for (const auto& [q, second, least] : {std::tuple{5, 0.6180, -1.6180},
                                         {13, 1.3028, -2.3028},
                                         {17, 1.5616, -2.5616},
                                         {29, 2.1926, -3.1926},
                                         {37, 2.5413, -3.5413}}) {
    const Eigen::VectorXd values = spectrum(paley_graph(q));
    EXPECT_NEAR(values[q - 2], second, 1e-4);
    EXPECT_NEAR(values[0], least, 1e-4);
  }
  const Graph X = ramanujan_graph(13, 5);
  EXPECT_EQ(X.vertices, 120);
  EXPECT_EQ(X.edges.size(), 840U);
  EXPECT_NEAR(spectrum(X)[118], 4, 1e-9);
  EXPECT_NEAR(spectrum(X)[0], -14, 1e-9);  // bipartite
}

TEST(Graphs, OfMargulisGabberAndGalilHaveTheKnownSpectra) {
  for (const auto& [u, second, least] : {std::tuple{3, 4.6056, -2.6056},
                                         {4, 4.8284, -4.0000},
                                         {5, 5.3254, -4.6174},
                                         {7, 5.7771, -5.1254},
                                         {10, 5.8935, -5.5167}}) {
    const Graph graph = make_graph("margulis", u * u, 8, 0);
    EXPECT_TRUE(is_connected(graph));
    EXPECT_EQ(static_cast<int>(graph.edges.size()), 4 * u * u);
    const Eigen::VectorXd values = spectrum(graph);
    EXPECT_NEAR(values[u * u - 1], 8, 1e-9);
    EXPECT_NEAR(values[u * u - 2], second, 6e-5) << u;
    EXPECT_NEAR(values[0], least, 6e-5) << u;
  }
  EXPECT_FALSE(graph_exists("margulis", 10, 8));
  EXPECT_FALSE(graph_exists("margulis", 9, 7));
  const auto of_edges = make_code("graph:graph=margulis,s=1", {.workers = 36});
  ASSERT_FALSE(of_edges) << "a worker would hold a chunk twice";
}

TEST(Graphs, OfLubotzkyPhillipsAndSarnakHaveTheKnownSizes) {
  for (const auto& [a, b, k, edges] :
       {std::tuple{5, 13, 2184, 6552}, {17, 13, 1092, 9828}, {5, 17, 4896, 14688}}) {
    const Graph graph = ramanujan_graph(a, b);
    EXPECT_EQ(graph.vertices, k);
    EXPECT_EQ(static_cast<int>(graph.edges.size()), edges);
    expect_regular(graph);
  }
}

TEST(Graphs, DrawnAtRandomAreRegularAndMixWell) {
  for (const auto& [k, r, listed] :
       {std::tuple{16, 4, 2.8378}, {33, 6, 3.8470}, {64, 6, 4.0500}, {8, 5, 2.2}, {12, 9, 3.0}}) {
    const Graph graph = make_graph("random", k, r, 3);
    EXPECT_EQ(graph.vertices, k);
    expect_regular(graph);
    EXPECT_LE(second_eigenvalue(graph), 1.15 * listed) << k << " " << r;  // best of 20, other draws
  }
}

struct Row {
  int s;
  double mean, worst;
};

void check(const std::string& text, int n, const std::vector<Row>& rows) {
  const GradientCode code = code_of(text + ",s=" + std::to_string(n - 1), n);
  for (const Row& row : rows) {
    const auto left = over_all_sets(code, row.s);
    EXPECT_NEAR(left.mean, row.mean, 6e-9) << text << " " << row.s;
    EXPECT_NEAR(left.worst, row.worst, 6e-7) << text << " " << row.s;
  }
}

TEST(GraphCode, LeavesTheListedResiduals) {
  check("graph:graph=complete,r=3",
        6,
        {{1, 0, 0}, {2, 0, 0}, {3, .1, .25}, {4, .26666666667, .333333}, {5, .5, .5}});
  check("graph:graph=cube,r=3",
        12,
        {{2, 0, 0},
         {3, .00519481, .142857},
         {4, .02077922, .142857},
         {5, .05342713, .25},
         {6, .11011132, .333333},
         {7, .18813131, .4},
         {8, .28686869, .5},
         {9, .40909091, .625},
         {10, .56060606, .666667},
         {11, .75, .75}});
  check("graph:graph=complete-bipartite,r=3",
        9,
        {{1, 0, 0},
         {2, 0, 0},
         {3, .01428571, .2},
         {4, .05714286, .2},
         {5, .14603175, .333333},
         {6, .27380952, .5},
         {7, .44444444, .555556},
         {8, .66666667, .666667}});
  check("graph:graph=petersen,r=3",
        15,
        {{1, 0, 0},
         {2, 0, 0},
         {3, .00263736, .1},
         {4, .01054945, .1},
         {5, .02721723, .2},
         {6, .05654155, .2},
         {7, .09777926, .3},
         {8, .15075369, .314286},
         {9, .21606394, .428571},
         {10, .29523810, .5},
         {11, .39018315, .52},
         {12, .50329670, .7},
         {13, .63809524, .733333},
         {14, .8, .8}});
  check(
      "graph:graph=heawood,r=3", 21, {{2, 0, 0}, {3, .00080972, .076923}, {4, .00323887, .076923}});
  check("graph:graph=circulant,r=2",
        5,
        {{1, .04, .04}, {2, .13333333333, .2}, {3, .33333333333, .466667}, {4, .6, .6}});
}

TEST(GraphCode, LeavesThePowerOfPUnderIndependentStragglers) {
  const auto mean = [](const std::string& text, int n, double p) {
    const GradientCode code = code_of(text + ",s=" + std::to_string(n - 1), n);
    double sum = std::pow(p, n);  // nobody answers: everything is left
    for (int s = 0; s < n; ++s) {
      for (const WorkerSet& answered : all_survivors(n, s)) {
        sum += std::pow(p, s) * std::pow(1 - p, n - s) * code.decode(answered)->residual;
      }
    }
    return sum;
  };
  EXPECT_NEAR(mean("graph:graph=complete,r=3", 6, 0.1), 0.00181000, 6e-9);
  EXPECT_NEAR(mean("graph:graph=complete,r=3", 6, 0.3), 0.04023000, 6e-9);
  EXPECT_NEAR(mean("graph:graph=cube,r=3", 12, 0.2), 0.00933483, 6e-9);
  EXPECT_NEAR(mean("graph:graph=complete-bipartite,r=3", 9, 0.1), 0.00120172, 6e-9);
  EXPECT_NEAR(mean("graph:graph=complete-bipartite,r=3", 9, 0.2), 0.00960072, 6e-9);
  EXPECT_NEAR(mean("graph:graph=complete-bipartite,r=3", 9, 0.3), 0.03210996, 6e-9);
  EXPECT_NEAR(mean("graph:graph=petersen,r=3", 15, 0.1), 0.00121778, 6e-9);
  EXPECT_NEAR(mean("graph:graph=petersen,r=3", 15, 0.5), 0.14615580, 6e-9);
}

TEST(GraphCode, DecodesTheHandExamples) {
  const Graph K4 = complete_graph(4);  // edges 01 02 03 12 13 23
  std::vector<double> a(6, 0.0);
  component_decoder(K4)(testing::all_but(6, {0, 1, 2}), a);
  const DecodedWeights decoded = decoded_weights(*edge_sums(K4), a);
  EXPECT_EQ(decoded.x, (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(a, (std::vector<double>{0, 0, 0, .5, .5, .5}));
  EXPECT_DOUBLE_EQ(decoded.residual, 0.25);

  const Graph C5 = {5, 2, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}}};
  std::vector<double> b(5, 0.0);
  component_decoder(C5)(testing::all_but(5, {2, 4}), b);
  const std::vector<double> wanted = {2.0 / 3, 2.0 / 3, 0, 1, 0};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(b[i], wanted[i], 1e-15);
  EXPECT_NEAR(decoded_weights(*edge_sums(C5), b).residual, 1.0 / 15, 1e-15);
}

TEST(GraphCode, AgreesWithLeastSquaresOnLargeGraphs) {
  const Graph graph = make_graph("random", 200, 3, 1);
  const SharedMatrix G = edge_sums(graph);
  const int n = static_cast<int>(graph.edges.size());
  for (const int s : {10, 60, 150, 280}) {
    for (const WorkerSet& answered : random_survivors(n, s, 5)) {
      std::vector<double> linear(static_cast<std::size_t>(n), 0.0);
      std::vector<double> shortest(static_cast<std::size_t>(n), 0.0);
      component_decoder(graph)(answered, linear);
      least_squares(G)(answered, shortest);
      const DecodedWeights decoded = decoded_weights(*G, linear);
      EXPECT_NEAR(decoded.residual, decoded_weights(*G, shortest).residual, 1e-9);
      answered.for_each([&](WorkerId worker) {  // answered edges decode 2 together
        const auto [u, v] = graph.edges[worker.index()];
        ASSERT_NEAR(decoded.x[static_cast<std::size_t>(u)] + decoded.x[static_cast<std::size_t>(v)],
                    2,
                    1e-9);
      });
    }
  }
}

TEST(ExpanderCode, LeavesTheListedResiduals) {
  struct Line {
    int s;
    double fixed_mean, fixed_worst, mean, worst, bound;
  };

  const auto verify = [](const std::string& text, int n, int r, const std::vector<Line>& lines) {
    const GradientCode code = code_of(text + ",s=" + std::to_string(n - 1), n);
    const SharedMatrix G = testing::sparse(testing::matrix(code));
    for (const Line& line : lines) {
      const auto fixed = over_all_sets(G, one_step(n, 1), line.s);
      EXPECT_NEAR(fixed.mean, line.fixed_mean, 6e-7) << text << " " << line.s;
      EXPECT_NEAR(fixed.mean, testing::one_step_mean(n, r, line.s), 1e-9);
      EXPECT_NEAR(fixed.worst, line.fixed_worst, 6e-7) << text << " " << line.s;
      EXPECT_LE(fixed.worst, line.bound + 1e-6);
      const auto optimal = over_all_sets(code, line.s);
      EXPECT_NEAR(optimal.mean, line.mean, 6e-7) << text << " " << line.s;
      EXPECT_NEAR(optimal.worst, line.worst, 6e-7) << text << " " << line.s;
    }
  };
  verify("expander:graph=petersen,r=3",
         10,
         3,
         {{1, .028807, .028807, .018182, .018182, .049383},
          {2, .064815, .076389, .041629, .047059, .111111},
          {3, .111111, .156463, .072641, .100000, .190476},
          {4, .172840, .296296, .114602, .228571, .296296},
          {5, .259259, .377778, .171916, .263636, .444444},
          {6, .388889, .666667, .250080, .400000, .666667},
          {7, .604938, .851852, .356071, .460000, 1.037037},
          {8, 1.037037, 1.222222, .5, .55, 1.777778},
          {9, 2.333333, 2.333333, .7, .7, 4}});
  verify("expander:graph=paley,r=6",
         13,
         6,
         {{1, .008102, .008102, .005917, .005917, .012275},
          {2, .017677, .020661, .013187, .015385, .026782},
          {3, .029167, .040000, .022241, .032967, .044190},
          {12, 1.166667, 1.166667, .538462, .538462, 1.767592}});
}

TEST(ExpanderCode, BetweenTwoSidesHasAnyDegree) {
  for (const auto& [n, r] : {std::pair{9, 3}, {8, 5}, {7, 1}, {6, 6}}) {
    const GradientCode code = code_of("expander:graph=two-sided,s=3,r=" + std::to_string(r), n);
    const Eigen::MatrixXd G = testing::matrix(code) * r;
    EXPECT_TRUE((G.array() * (G.array() - 1)).abs().maxCoeff() < 1e-12) << "0 or 1";
    EXPECT_TRUE((G.rowwise().sum().array() - r).abs().maxCoeff() < 1e-12);
    EXPECT_TRUE((G.colwise().sum().array() - r).abs().maxCoeff() < 1e-12);
    const auto fixed = over_all_sets(testing::sparse(G / r), one_step(n, 1), 3);
    EXPECT_NEAR(fixed.mean, testing::one_step_mean(n, r, 3), 1e-12);
  }
}

// Loops and double edges are weights of 2/8 and more; the bound is that of any regular graph.
TEST(ExpanderCode, KeepsItsBoundOnAMultigraph) {
  constexpr int n = 9;
  const GradientCode code = code_of("expander:graph=margulis,s=8", n);
  const Eigen::MatrixXd G = testing::matrix(code);
  EXPECT_TRUE((G.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  EXPECT_TRUE((G.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  const double rho = 4.6056;
  for (int s = 1; s < n; ++s) {
    const auto fixed = over_all_sets(testing::sparse(G), one_step(n, 1), s);
    const auto optimal = over_all_sets(code, s);
    EXPECT_LE(fixed.worst, rho * rho / 64 * s / (n - s) + 1e-5);
    EXPECT_LE(optimal.worst, fixed.worst + 1e-12);
    EXPECT_LE(optimal.mean, fixed.mean + 1e-12);
  }
}

}  // namespace
}  // namespace paceline
