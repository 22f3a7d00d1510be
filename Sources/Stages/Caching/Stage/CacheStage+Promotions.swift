internal import Messages

// Hits of external caches that are kept here (SEMANTICS §5.26).
extension CacheStage {
    /// A newer value is about to be stored under this key: hits that are being copied for it are
    /// delivered, and not kept.
    func overtakePromotions(of key: String) {
        for (ticket, work) in pending {
            guard case .copying(.store(let job, let store, var plan), let body) = work,
                store.isPromotion, plan.key == key
            else { continue }
            plan.keepNothing()
            pending[ticket] = .copying(.store(job, store, plan), body)
        }
    }

    /// A hit does not take the place of what came here meanwhile.
    func skipIfOvertaken(_ plan: inout StorePlan, _ now: UnixTime) {
        if let key = plan.key, !tiersInMemory(of: key, now: now).isEmpty { plan.keepNothing() }
    }
}

extension StorePlan {
    /// The body is delivered at most.
    fileprivate mutating func keepNothing() {
        (key, toMemory, toDisk, isWithheld) = (nil, false, false, false)
        skipped.append("a newer value is there")
    }
}
