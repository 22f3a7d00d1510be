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
        let end = CopyAnswer(
            ticket: 0, error: nil, isSame: filling.comparand.map(body.isEqual) ?? false,
            digest: filling.wantsDigest ? body.digest : nil)
        didFill(body, filling, end, now)
    }

    /// A body is complete.
    private func didFill(
        _ body: Body, _ filling: Filling, _ end: CopyAnswer, _ now: UnixTime
    ) {
        switch filling {
        case .query(let job, let work, var finding):
            finding.metadata.digest = finding.metadata.digest ?? end.digest
            found(body, job, work, finding, now)
        case .store(let job, var work, let plan):
            // Of the copy: nobody changes it between this look and its use.
            guard work.describes(body) else { return self.answer(job, .failed(Self.otherImage)) }
            work.metadata.digest = end.digest
            store(body, job, work, plan, now)
        case .comparison(let job, _):
            self.answer(job, .stored(StoreReport(delivered: nil, tiers: .none, isSame: end.isSame)))
        }
    }

    /// The copy thread has ended a copy.
    func copied(_ answer: CopyAnswer, _ now: UnixTime) {
        guard case .copying(let filling, let body)? = pending.removeValue(forKey: answer.ticket)
        else { return }
        guard let error = answer.error else {
            return didFill(body, filling, answer, now)
        }
        switch filling {
        case .query(let job, _, _): self.answer(job, .failed(error))
        case .store(let job, _, _): self.answer(job, .failed(error))
        case .comparison(let job, _): self.answer(job, .failed(error))
        }
    }

    private static let otherImage = ImageError(
        .badImageData, "the bytes are not the image that their maker said")
}

extension StoreWork {
    /// Whether bytes which a transformer made are, by their header, the image of which the metadata
    /// speak. Originals are what origins send: their facts are a decoder's, and say how they are
    /// displayed. What a cache of others had may be one of both, and a file that a decoder hands
    /// over is displayed like its original. Of some formats the signature is all that is known.
    fileprivate func describes(_ body: Body) -> Bool {
        let bytes = body.bytes.bindMemory(to: UInt8.self)
        guard let producer = source.producer else { return true }
        let (format, size) = (metadata.info.format, metadata.info.size)
        if producer.kind == .transform, format.isEncodable {
            guard let header = ImageHeader(bytes.span) else { return false }
            return header.format == format && header.size == size
        }
        let isForeignCache = producer.kind == .cache && producer.pool != PoolName(.cache)
        guard isForeignCache || [.transform, .decode].contains(producer.kind) else { return true }
        guard ImageFormat(file: bytes.span) == format else { return false }
        guard format.traits.storedSize != nil else { return true }
        guard let stored = ImageHeader(bytes.span)?.size else { return false }
        return stored == size || stored.transposed == size
    }
}
