// What the emulator asks of the parts of gpuocelot that are not built: its configuration, which is
// otherwise read from a file, and the analyses by name.
#include <ocelot/analysis/AnalysisFactory.h>
#include <ocelot/analysis/DominatorTree.h>
#include <ocelot/analysis/PostdominatorTree.h>
#include <ocelot/api/OcelotConfiguration.h>
#include <ocelot/executive/ReconvergenceMechanism.h>

namespace api {

using Configuration = OcelotConfiguration;
using Traces = Configuration::TraceGeneration;

Configuration::Checkpoint::Checkpoint() : enabled(false), verify(false) {}
Traces::RaceDetector::RaceDetector() : enabled(false) {}
Traces::Debugger::Debugger() : enabled(false), alwaysAttach(false) {}
Traces::MemoryChecker::MemoryChecker() : enabled(false) {}
Traces::KernelTimer::KernelTimer() : enabled(false) {}
Traces::TraceGeneration() {}
Configuration::CudaRuntimeImplementation::CudaRuntimeImplementation() {}
Configuration::Executive::Executive()
    : reconvergenceMechanism(executive::ReconvergenceMechanism::Reconverge_IPDOM),
      workerThreadLimit(1),
      warpSize(32) {}
Configuration::Optimizations::Optimizations() {}
Configuration::OcelotConfiguration() {}
const Configuration& Configuration::get() {
  static Configuration configuration;
  return configuration;
}

}  // namespace api

namespace analysis {

Analysis* AnalysisFactory::createAnalysis(const std::string& name, const StringVector&) {
  if (name == "DominatorTreeAnalysis") return new DominatorTree;
  if (name == "PostDominatorTreeAnalysis") return new PostdominatorTree;
  return nullptr;
}

}  // namespace analysis
