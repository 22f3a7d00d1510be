import ImageModel
import Messages
import Scheduling
import Sodium
import StageContract

/// Bytes that clients bring along, on their way into blocks of our own (PROTOCOL §10.1).
///
/// What a client announces counts against the limits at once, and takes space as it comes: a block
/// doubles until it holds all.
struct UploadDesk {
    /// Payloads of one client that may be under way.
    static let perClientMax = 64
    /// Milliseconds without a piece after which an upload is given up.
    static let silenceMilliseconds = 10_000
    /// Bytes of pieces that are taken before a client is told so.
    private static let takenBytesMin = UInt64(MessageLimits.pieceWindowBytes / 4)

    /// What one client brings along.
    private struct Line {
        var uploads: [Token: Upload] = [:]
        /// Bytes that were taken, and that it was not told of.
        var untold: UInt64?

        var isIdle: Bool { uploads.isEmpty && untold == nil }
    }

    private let space: any OutputSpace
    private let bytesMax: UInt64
    private var lines: [ClientID: Line] = [:]
    /// What was announced, of uploads that are under way and of those that are in use.
    private var announcedBytes: UInt64 = 0
    /// Complete ones that others read.
    private var inUse: [BlockID: UInt64] = [:]
    /// No upload may be given up before.
    private var earliest: Instant?

    /// Blocks come from `space` and go back to it; what was announced is never more than
    /// `bytesMax`.
    init(space: any OutputSpace, bytesMax: Int) {
        self.space = space
        self.bytesMax = UInt64(bytesMax)
    }

    /// A load announces bytes. One with the token of another begins it anew.
    mutating func begin(
        _ load: LoadRequest, of client: ClientID, bytesMax: UInt64, at now: Instant
    ) throws(ImageError) {
        if let old = remove(load.token, of: client) { giveUp(old) }
        guard load.image.url.isEmpty else {
            throw ImageError(.invalidRequest, "bytes come along, so there is no URL to be named")
        }
        guard load.uploadBytes <= bytesMax else {
            throw ImageError(
                .limitExceeded, "at most \(bytesMax) bytes may come along",
                details: ["limit": "\(bytesMax)"])
        }
        guard lines[client]?.uploads.count ?? 0 < Self.perClientMax,
            announcedBytes + load.uploadBytes <= self.bytesMax
        else { throw Self.busy }
        do throws(SodiumError) {
            lines[client, default: Line()].uploads[load.token] = try Upload(load, at: now)
        } catch {
            throw ImageError(.internalError, "no digest can be made: \(error)")
        }
        announcedBytes += load.uploadBytes
        expect(now)
    }

    /// A piece came: its upload, where it is complete now. Pieces of no upload are dropped; those
    /// that leave a gap end it, and so does a piece for which there is no space.
    mutating func take(
        _ piece: Piece, of client: ClientID, at now: Instant
    ) throws(ImageError) -> Complete? {
        lines[client, default: Line()].untold =
            (lines[client]?.untold ?? 0) + UInt64(piece.bytes.count)
        guard let upload = lines[client]?.uploads[piece.token] else { return nil }
        guard upload.follows(piece) else {
            throw ImageError(.protocolViolation, "a piece does not follow the one before it")
        }
        do throws(ImageError) {
            try upload.take(piece, in: space, at: now)
        } catch {
            throw Self.busy
        }
        guard upload.isComplete, let block = upload.block else { return nil }
        _ = remove(piece.token, of: client)
        inUse[block.id] = upload.load.uploadBytes
        return Complete(load: upload.load, block: block, digest: upload.digest)
    }

    /// A block is used no more.
    mutating func freed(_ block: BlockID) {
        if let bytes = inUse.removeValue(forKey: block) { announcedBytes -= bytes }
    }

    /// What a client is to be told: so many bytes were taken since it was told last.
    mutating func takeUntold(of client: ClientID) -> UInt64? {
        guard let line = lines[client], let bytes = line.untold,
            bytes >= Self.takenBytesMin || line.uploads.isEmpty
        else { return nil }
        lines[client]?.untold = nil
        tidy(client)
        return bytes
    }

    /// Gives up one upload that cannot go on.
    mutating func giveUp(_ token: Token, of client: ClientID) -> LoadRequest? {
        remove(token, of: client).map { giveUp($0) }
    }

    /// Gives up what a client no longer wants.
    mutating func cancel(
        of client: ClientID, where isMeant: (LoadRequest) -> Bool
    ) -> [LoadRequest] {
        let meant = lines[client]?.uploads.values.filter { isMeant($0.load) } ?? []
        return meant.compactMap { giveUp($0.load.token, of: client) }
    }

    /// A client is gone.
    mutating func leave(_ client: ClientID) {
        guard lines[client] != nil else { return }
        _ = cancel(of: client) { _ in true }
        lines[client] = nil
    }

    /// Gives up what has been silent for too long.
    mutating func expire(at now: Instant) -> [(client: ClientID, load: LoadRequest)] {
        guard let due = nextDeadline, due <= now else { return [] }
        earliest = nil
        var ended: [(client: ClientID, load: LoadRequest)] = []
        for (client, line) in lines {
            for (token, upload) in line.uploads {
                if upload.heardAt.adding(milliseconds: Self.silenceMilliseconds) > now {
                    expect(upload.heardAt)
                } else if let load = giveUp(token, of: client) {
                    ended.append((client, load))
                }
            }
        }
        return ended
    }

    /// Before this none has been silent for too long; it may be that none has then.
    var nextDeadline: Instant? { earliest?.adding(milliseconds: Self.silenceMilliseconds) }

    private mutating func expect(_ heardAt: Instant) {
        earliest = earliest.map { min($0, heardAt) } ?? heardAt
    }

    /// Takes an upload off the desk.
    private mutating func remove(_ token: Token, of client: ClientID) -> Upload? {
        guard let upload = lines[client]?.uploads.removeValue(forKey: token) else { return nil }
        tidy(client)
        return upload
    }

    /// Its space goes back.
    @discardableResult
    private mutating func giveUp(_ upload: Upload) -> LoadRequest {
        if let block = upload.block { space.discard(block) }
        announcedBytes -= upload.load.uploadBytes
        return upload.load
    }

    private mutating func tidy(_ client: ClientID) {
        guard lines[client]?.isIdle == true else { return }
        lines[client] = nil
        if lines.isEmpty { earliest = nil }
    }

    private static let busy = ImageError.busy("there is no room for the bytes that came along")
}

extension UploadDesk {
    /// Bytes that have all come.
    struct Complete {
        let load: LoadRequest
        let block: OutputBlock
        let digest: ContentDigest
    }

    /// One payload that is not complete.
    private final class Upload {
        let load: LoadRequest
        /// Names the bytes once all have come.
        let digest: ContentDigest
        /// As large as what has come, or up to twice that.
        private(set) var block: OutputBlock?
        private(set) var received = 0
        private(set) var heardAt: Instant

        init(_ load: LoadRequest, at now: Instant) throws(SodiumError) {
            self.load = load
            digest = try ContentDigest()
            heardAt = now
        }

        /// Whether a piece is the next one.
        func follows(_ piece: Piece) -> Bool {
            piece.offset == UInt64(received) && piece.total == load.uploadBytes
                && UInt64(received + piece.bytes.count) <= load.uploadBytes
        }

        func take(
            _ piece: Piece, in space: any OutputSpace, at now: Instant
        ) throws(ImageError) {
            let needed = received + piece.bytes.count
            let bytes = try room(for: needed, in: space).bytes
            UnsafeMutableRawBufferPointer(rebasing: bytes[received..<needed])
                .copyBytes(from: piece.bytes)
            digest.update(piece.bytes)
            received = needed
            heardAt = now
        }

        private func room(
            for bytes: Int, in space: any OutputSpace
        ) throws(ImageError) -> OutputBlock {
            if let block, block.bytes.count >= bytes { return block }
            let wanted = min(
                Int(load.uploadBytes), max(bytes, 2 * (block?.bytes.count ?? Self.firstBytes)))
            let larger: OutputBlock
            if let block {
                larger = try space.resize(block, to: wanted, keeping: received)
            } else {
                larger = try space.reserve(wanted)
            }
            block = larger
            return larger
        }

        var isComplete: Bool { UInt64(received) == load.uploadBytes }

        /// Half of what the first piece takes: it has 60 KiB at most.
        private static let firstBytes = 128 << 10
    }
}
