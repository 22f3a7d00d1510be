import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages

// Bytes that go through the socket, since one side cannot open the other's memory.
extension ClientLine {
    /// Puts a message behind those that wait. Pieces of an upload follow their load, and go only
    /// when nothing else waits.
    mutating func enqueue(_ message: ClientMessage, at now: Instant) {
        switch message {
        case .load(let load) where load.uploadBytes > 0:
            guard uploads.start(load.token) else {
                return perform(pending.abandoned(load.token, .takesNoBytes, at: now), at: now)
            }
        case .cancel(let token): uploads.stop(token)
        case .cancelGroup(let group): uploads.stop(group: group)
        default: break
        }
        outbox.append(message)
    }

    /// A load that brings its bytes along.
    mutating func submit(
        _ load: LoadRequest, _ task: LoadTask, uploading bytes: [UInt8], at now: Instant
    ) {
        if !bytes.isEmpty { uploads.add(load.token, bytes, group: load.group) }
        submit(load, task, at: now)
    }

    mutating func receive(_ piece: Piece, at now: Instant) {
        // Of a session that has ended.
        guard isWelcome else { return }
        do throws(ImageError) {
            try pieces.take(piece, isWanted: tasks[piece.token] != nil)
        } catch {
            perform(pending.abandoned(piece.token, error, at: now), at: now)
        }
        if let count = pieces.acknowledgement() { outbox.append(.taken(count)) }
    }

    /// Sends what the window has room for.
    mutating func sendPieces() throws {
        while let piece = uploads.next {
            guard try transmit(.piece(piece)) else { return }
            uploads.advance()
        }
    }

    /// A load has ended: what it brought along and what has come for it.
    mutating func forget(_ token: Token) {
        uploads.drop(token)
        pieces.drop(token)
    }
}

extension ImageError {
    fileprivate static var takesNoBytes: ImageError {
        ImageError(.versionMismatch, "this coordinator takes no pictures without a URL")
    }
}
