import ImageModel
import Messages
import Scheduling
import Sodium
import StageContract

/// Bytes that clients bring along, on their way into blocks of our own (PROTOCOL §10.1).
struct UploadDesk {
    /// One payload that is not complete.
    final class Upload {
        let load: LoadRequest
        let block: OutputBlock
        /// Names the bytes once all have come.
        let digest: ContentDigest
        private(set) var received = 0
        fileprivate(set) var heardAt: Instant

        init(_ load: LoadRequest, _ block: OutputBlock, at now: Instant) throws(SodiumError) {
            self.load = load
            self.block = block
            digest = try ContentDigest()
            heardAt = now
        }

        /// Takes a piece; `false` where it does not follow the one before.
        func take(_ piece: Piece, at now: Instant) -> Bool {
            guard piece.offset == UInt64(received), piece.total == load.uploadBytes,
                received + piece.bytes.count <= block.bytes.count
            else { return false }
            UnsafeMutableRawBufferPointer(rebasing: block.bytes[received...])
                .copyBytes(from: piece.bytes)
            digest.update(piece.bytes)
            received += piece.bytes.count
            heardAt = now
            return true
        }

        var isComplete: Bool { UInt64(received) == load.uploadBytes }
    }

    private struct Place: Hashable {
        let client: ClientID
        let token: Token
    }

    /// Payloads of one client that may be under way.
    static let perClientMax = 64
    /// Milliseconds without a piece after which an upload is given up.
    static let silenceMilliseconds = 10_000
    /// Bytes of pieces that are taken before a client is told so.
    private static let takenBytesMin = UInt64(MessageLimits.pieceWindowBytes / 4)

    private let space: any OutputSpace
    private var uploads: [Place: Upload] = [:]
    private var counts: [ClientID: Int] = [:]
    /// Bytes that were taken of a client, and that it was not told of.
    private var untold: [ClientID: UInt64] = [:]

    /// Blocks come from `space` and go back to it.
    init(space: any OutputSpace) { self.space = space }

    /// A load announces bytes. One with the token of another begins it anew.
    mutating func begin(
        _ load: LoadRequest, of client: ClientID, bytesMax: UInt64, at now: Instant
    ) throws(ImageError) {
        if let old = remove(load.token, of: client) { space.discard(old.block) }
        guard load.image.url.isEmpty else {
            throw ImageError(.invalidRequest, "bytes come along, so there is no URL to be named")
        }
        guard load.uploadBytes <= bytesMax else {
            throw ImageError(
                .limitExceeded, "at most \(bytesMax) bytes may come along",
                details: ["limit": "\(bytesMax)"])
        }
        guard counts[client, default: 0] < Self.perClientMax else { throw Self.busy }
        let block: OutputBlock
        do throws(ImageError) {
            block = try space.reserve(Int(load.uploadBytes))
        } catch {
            throw Self.busy
        }
        do throws(SodiumError) {
            uploads[Place(client: client, token: load.token)] = try Upload(load, block, at: now)
        } catch {
            space.discard(block)
            throw ImageError(.internalError, "no digest can be made: \(error)")
        }
        counts[client, default: 0] += 1
    }

    /// A piece came: its upload, where it is complete now. Pieces of no upload are dropped, those
    /// that leave a gap end it.
    mutating func take(
        _ piece: Piece, of client: ClientID, at now: Instant
    ) throws(ImageError) -> Upload? {
        untold[client, default: 0] += UInt64(piece.bytes.count)
        guard let upload = uploads[Place(client: client, token: piece.token)] else { return nil }
        guard upload.take(piece, at: now) else {
            throw ImageError(.protocolViolation, "a piece does not follow the one before it")
        }
        return upload.isComplete ? remove(piece.token, of: client) : nil
    }

    /// What a client is to be told: so many bytes were taken since it was told last.
    mutating func takeUntold(of client: ClientID) -> UInt64? {
        guard let bytes = untold[client],
            bytes >= Self.takenBytesMin || counts[client] == nil
        else { return nil }
        untold[client] = nil
        return bytes
    }

    /// Takes an upload off the desk; the block is the caller's.
    mutating func remove(_ token: Token, of client: ClientID) -> Upload? {
        guard let upload = uploads.removeValue(forKey: Place(client: client, token: token)) else {
            return nil
        }
        let rest = counts[client, default: 1] - 1
        counts[client] = rest == 0 ? nil : rest
        return upload
    }

    /// Gives up what a client no longer wants.
    mutating func cancel(
        of client: ClientID, where isMeant: (LoadRequest) -> Bool
    ) -> [LoadRequest] {
        give(
            up: uploads.keys.filter { place in
                place.client == client && uploads[place].map { isMeant($0.load) } == true
            }
        ).map(\.load)
    }

    /// A client is gone.
    mutating func leave(_ client: ClientID) {
        _ = cancel(of: client) { _ in true }
        untold[client] = nil
    }

    /// Gives up what has been silent for too long.
    mutating func expire(at now: Instant) -> [(client: ClientID, load: LoadRequest)] {
        guard let due = nextDeadline, due <= now else { return [] }
        return give(
            up: uploads.filter {
                $0.value.heardAt.adding(milliseconds: Self.silenceMilliseconds) <= now
            }.map(\.key))
    }

    /// When an upload may be given up next.
    var nextDeadline: Instant? {
        uploads.values.map(\.heardAt).min()?.adding(milliseconds: Self.silenceMilliseconds)
    }

    private mutating func give(up places: [Place]) -> [(client: ClientID, load: LoadRequest)] {
        places.compactMap { place in
            guard let upload = remove(place.token, of: place.client) else { return nil }
            space.discard(upload.block)
            return (place.client, upload.load)
        }
    }

    private static let busy = ImageError.busy("there is no room for the bytes that came along")
}
