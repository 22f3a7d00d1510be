import Model

@testable import Coordinator

extension Scheduler {
    /// A fallback inherits nothing that its caller addressed to another origin, and has no fallback
    /// of its own.
    func auditFallbacks(_ check: (Bool, String) -> Void) {
        for id in requests.ids {
            let request = requests[id]
            guard let failure = request.fallbackContext else {
                check(request.admitted.canvas == nil, "only a fallback is painted")
                continue
            }
            check(failure.error.code.admitsFallback, "that error has no fallback")
            check(request.image.headers.isEmpty, "a fallback has no headers")
            check(request.admitted.upload == nil, "a fallback holds no upload")
            check(request.admitted.terms.fallback == .none, "a fallback has no fallback")
            check(
                request.refreshing == nil && !request.plan.refreshes,
                "a fallback is not refreshed")
            check(request.batch == nil, "what is prefetched has no fallback")
        }
    }
}
