import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages

// Bytes that go through the socket, since one side cannot open the other's memory.
extension ClientLine {
    /// Puts a load behind what waits. One that brings bytes along goes, with these, only when
    /// nothing else waits.
    mutating func enqueue(_ load: PendingLoad, at now: Instant) {
        guard load.manner.uploadBytes > 0 else { return outbox.append(.load(load)) }
        if uploads.start(load.message) { return }
        perform(pending.abandoned(load.token, .takesNoBytes, at: now), at: now)
    }

    /// Puts a message behind those that wait.
    mutating func enqueue(_ message: ClientMessage, at now: Instant) {
        switch message {
        case .cancel(let token):
            if uploads.stop(token) { return endUnsent(token, at: now) }
        case .cancelGroup(let group):
            for token in uploads.stop(group: group) { endUnsent(token, at: now) }
        default: break
        }
        outbox.append(.other(message))
    }

    /// The coordinator does not know it, and would not answer.
    private mutating func endUnsent(_ token: Token, at now: Instant) {
        let error = ImageError(.cancelled, "cancelled before it was sent")
        perform(pending.refused(error, token, at: now), at: now)
    }

    /// A load that brings its bytes along.
    mutating func submit(_ load: PendingLoad, uploading bytes: [UInt8], at now: Instant) {
        if !bytes.isEmpty { uploads.add(load.token, bytes) }
        submit(load, at: now)
    }

    mutating func receive(_ piece: Piece, at now: Instant) {
        // Of a session that has ended.
        guard isWelcome else { return }
        do throws(ImageError) {
            try pieces.take(piece, isWanted: isAwaited(piece.token))
        } catch {
            perform(pending.abandoned(piece.token, error, at: now), at: now)
        }
        if let count = pieces.acknowledgement() { outbox.append(.other(.taken(count))) }
    }

    /// Sends loads that bring bytes along, and of these what the window has room for.
    mutating func sendUploads() throws {
        while let step = uploads.next, let message = uploads.message(step) {
            guard try transmitOne(message) else { return }
            uploads.sent(step)
        }
    }

    /// Whether anybody waits for what comes under a token: who shares it does, too.
    func isAwaited(_ token: Token) -> Bool { pending.load(of: token) != nil }

    /// A load has ended: what it brought along and what has come for it.
    mutating func forget(_ token: Token) {
        uploads.drop(token)
        pieces.drop(token)
    }
}

extension ImageError {
    fileprivate static var takesNoBytes: ImageError {
        ImageError(.versionMismatch, "this coordinator takes no images without a URL")
    }
}
