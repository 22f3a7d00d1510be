internal import ImageModel
internal import Messages

extension CacheStage {
    /// Copies bytes into a body and goes on: here where they are few, else on the copy thread.
    func fill(
        _ body: Body, from source: CopySource, for filling: Filling, _ now: UnixTime
    ) throws(ImageError) {
        guard body.length < Self.largeBytes else {
            if !ask(copying: source, into: body, for: filling) { throw Self.tooMuchWaits }
            return
        }
        try source.copy(into: body)
        didFill(body, filling, isSame: filling.comparand.map(body.isEqual) ?? false, now)
    }

    /// A body is complete.
    private func didFill(_ body: Body, _ filling: Filling, isSame: Bool, _ now: UnixTime) {
        switch filling {
        case .query(let job, let work, let finding): found(body, job, work, finding, now)
        case .store(let job, let work, let plan): store(body, job, work, plan, now)
        case .comparison(let job, _):
            self.answer(job, .stored(StoreReport(delivered: nil, tiers: .none, isSame: isSame)))
        }
    }

    /// The copy thread has ended a copy.
    func copied(_ answer: CopyAnswer, _ now: UnixTime) {
        guard case .copying(let filling, let body)? = pending.removeValue(forKey: answer.ticket)
        else { return }
        guard let error = answer.error else {
            return didFill(body, filling, isSame: answer.isSame, now)
        }
        switch filling {
        case .query(let job, _, _): self.answer(job, .failed(error))
        case .store(let job, _, _): self.answer(job, .failed(error))
        case .comparison(let job, _): self.answer(job, .failed(error))
        }
    }
}
