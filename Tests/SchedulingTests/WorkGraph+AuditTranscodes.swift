import Model

@testable import Coordinator

extension WorkGraph {
    /// Invariants of serializers applied to results.
    func auditTranscodes(_ check: (Bool, String) -> Void) {
        check(transcodes.count <= limits.transcodesMax, "transcodes have a limit")
        for id in transcodes.ids {
            let node = transcodes[id]
            check(
                (compositeJobs.jobs[node.job]?.submission ?? dispatcher.jobs[node.job]?.submission)?
                    .input
                    == node.input,
                "a transcode has a job that reads")
            check(node.tiers.contains(.disk), "only what goes to the disk is encoded again")
            check(dispatcher.jobs[node.job]?.place != .parked, "a transcode waits for no space")
            if let result = node.result, results.contains(result) {
                check(results[result].transcode == id, "a result knows its transcode")
            }
            if node.keepsSource {
                let isThere = node.source.map { sources.contains($0) } ?? false
                check(isThere, "a source stays until it is stored")
            }
        }
    }
}
