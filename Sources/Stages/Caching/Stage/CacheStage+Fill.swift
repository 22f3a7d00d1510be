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
        didFill(body, filling, now)
    }

    /// A body is complete.
    private func didFill(_ body: Body, _ filling: Filling, _ now: UnixTime) {
        switch filling {
        case .query(let job, let work, let finding): found(body, job, work, finding, now)
        case .store(let job, let work, let plan): store(body, job, work, plan, now)
        }
    }

    /// The copy thread has ended a copy.
    func copied(_ answer: CopyAnswer, _ now: UnixTime) {
        guard case .copying(let filling, let body)? = pending.removeValue(forKey: answer.ticket)
        else { return }
        guard let error = answer.error else { return didFill(body, filling, now) }
        switch filling {
        case .query(let job, _, _): self.answer(job, .failed(error))
        case .store(let job, _, _): self.answer(job, .failed(error))
        }
    }
}
