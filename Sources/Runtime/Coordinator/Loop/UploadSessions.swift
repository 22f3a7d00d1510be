import Model
import ProcessRuntime
import Sodium

/// Uploads of clients while they are received into blocks of the coordinator (PROTOCOL §10.1).
///
/// Space is allocated and accounted as bytes arrive: a block doubles until everything fits.
/// Announced sizes allocate nothing.
struct UploadSessions {
    /// The maximum number of concurrent uploads per client.
    static let perClientMax = 64
    /// The time in milliseconds without a chunk after which an upload is aborted, as it is after
    /// its timeout. Both count from the first load with its token; repeating the load is not
    /// progress.
    static let silenceMilliseconds = 10_000
    /// The number of bytes after which a client gets an acknowledgment.
    private static let acknowledgedBytesMin = UInt64(MessageLimits.chunkWindowBytes / 4)

    /// The uploads of one client.
    private struct Line {
        var uploads: [Token: Upload] = [:]
        /// Received bytes that were not acknowledged yet.
        var unacknowledged: UInt64?

        var isIdle: Bool { uploads.isEmpty && unacknowledged == nil }
    }

    private let space: any OutputSpace
    private var lines: [ClientID: Line] = [:]
    /// The bytes of uploads in progress and of those in use.
    private var bytes: SharedSpace<ClientID>
    /// The client and size of complete uploads that are in use.
    private var inUse: [BlockID: (client: ClientID, bytes: UInt64)] = [:]
    /// No upload times out before this time; it is a lower bound.
    private(set) var nextDeadline: Instant?

    /// Allocates blocks from `space`, up to `bytesMax` in total.
    init(space: any OutputSpace, bytesMax: Int) {
        self.space = space
        bytes = SharedSpace(max: UInt64(bytesMax))
    }

    /// Begins an upload announced by a load. A repeated token restarts the upload, within its
    /// remaining time.
    mutating func begin(
        _ load: LoadRequest, of client: ClientID, bytesMax: UInt64, at now: Instant
    ) throws(ImageError) {
        let old = remove(load.token, of: client)
        if let old { giveUp(old, of: client) }
        let bytesMax = min(bytesMax, bytes.mostOfOne)
        try ImageError.require(
            load.image.url.isEmpty,
            "uploads must not specify a URL")
        guard load.uploadBytes <= bytesMax else {
            throw ImageError(
                .limitExceeded, "uploads accept at most \(bytesMax) bytes"
            ) { $0.limit = "\(bytesMax)" }
        }
        guard lines[client]?.uploads.count ?? 0 < Self.perClientMax,
            bytes.admits(load.uploadBytes, for: client)
        else { throw Self.busy }
        do throws(SodiumError) {
            let upload = try Upload(
                load, announcedAt: old?.announcedAt ?? now, heardAt: old?.heardAt ?? now)
            lines[client, default: Line()].uploads[load.token] = upload
            expect(upload.deadline)
        } catch {
            throw ImageError(.internalError, "the digest cannot be computed: \(error)")
        }
    }

    /// Adds a chunk and returns its upload if that is now complete. Chunks without an upload are
    /// dropped; an upload ends if a chunk leaves a gap or exceeds the space.
    mutating func receive(
        _ chunk: Chunk, of client: ClientID, at now: Instant
    ) throws(ImageError) -> Complete? {
        lines[client, default: Line()].unacknowledged =
            (lines[client]?.unacknowledged ?? 0) + UInt64(chunk.bytes.count)
        guard let upload = lines[client]?.uploads[chunk.token] else { return nil }
        guard upload.follows(chunk) else {
            throw ImageError(.protocolViolation, "a chunk does not follow the previous one")
        }
        do throws(ImageError) {
            try makeRoom(for: chunk, in: upload, of: client)
        } catch {
            throw Self.busy
        }
        upload.append(chunk, at: now)
        guard upload.isComplete, let block = upload.block else { return nil }
        _ = remove(chunk.token, of: client)
        inUse[block.id] = (client, upload.heldBytes)
        return Complete(load: upload.loadInTimeLeft(at: now), block: block, digest: upload.digest)
    }

    private mutating func makeRoom(
        for chunk: Chunk, in upload: Upload, of client: ClientID
    ) throws(ImageError) {
        guard let wanted = upload.bytesWanted(for: chunk) else { return }
        let held = upload.heldBytes
        guard bytes.admits(UInt64(wanted) - held, for: client) else { throw Self.busy }
        try upload.grow(to: wanted, in: space)
        // A block may be larger than requested.
        bytes.take(upload.heldBytes - held, for: client)
    }

    /// Updates the accounting for a block that is no longer used.
    mutating func freed(_ block: BlockID) {
        guard let upload = inUse.removeValue(forKey: block) else { return }
        bytes.giveBack(upload.bytes, of: upload.client)
    }

    /// Returns the bytes to acknowledge since the last acknowledgment, if there are enough.
    mutating func dueAcknowledgment(of client: ClientID) -> UInt64? {
        guard let line = lines[client], let bytes = line.unacknowledged,
            bytes >= Self.acknowledgedBytesMin || line.uploads.isEmpty
        else { return nil }
        lines[client]?.unacknowledged = nil
        tidy(client)
        return bytes
    }

    /// Aborts an upload.
    mutating func giveUp(_ token: Token, of client: ClientID) -> LoadRequest? {
        remove(token, of: client).map { giveUp($0, of: client) }
    }

    /// Aborts matching uploads that a client canceled.
    mutating func cancel(
        of client: ClientID, where isMeant: (LoadRequest) -> Bool
    ) -> [LoadRequest] {
        let meant = lines[client]?.uploads.values.filter { isMeant($0.load) } ?? []
        return meant.compactMap { giveUp($0.load.token, of: client) }
    }

    /// Removes the uploads of a client that has disconnected.
    mutating func leave(_ client: ClientID) {
        guard lines[client] != nil else { return }
        _ = cancel(of: client) { _ in true }
        lines[client] = nil
    }

    /// Aborts uploads that were silent for too long or exceeded their timeout.
    mutating func expire(at now: Instant) -> [Expired] {
        guard let due = nextDeadline, due <= now else { return [] }
        nextDeadline = nil
        var ended: [Expired] = []
        for (client, line) in lines {
            for (token, upload) in line.uploads {
                if upload.deadline > now {
                    expect(upload.deadline)
                } else if let load = giveUp(token, of: client) {
                    ended.append(Expired(client: client, load: load, received: upload.received))
                }
            }
        }
        return ended
    }

    private mutating func expect(_ deadline: Instant) {
        nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
    }

    private mutating func remove(_ token: Token, of client: ClientID) -> Upload? {
        guard let upload = lines[client]?.uploads.removeValue(forKey: token) else { return nil }
        tidy(client)
        return upload
    }

    /// Frees an upload's space.
    @discardableResult
    private mutating func giveUp(_ upload: Upload, of client: ClientID) -> LoadRequest {
        if let block = upload.block { space.discard(block) }
        bytes.giveBack(upload.heldBytes, of: client)
        return upload.load
    }

    private mutating func tidy(_ client: ClientID) {
        guard lines[client]?.isIdle == true else { return }
        lines[client] = nil
        if lines.isEmpty { nextDeadline = nil }
    }

    private static let busy = ImageError.busy("there is no space for the uploaded bytes")
}

extension UploadSessions {
    /// A completely received upload.
    struct Complete {
        let load: LoadRequest
        let block: OutputBlock
        let digest: BLAKE2bDigest
    }

    /// An upload that timed out.
    struct Expired {
        let client: ClientID
        let load: LoadRequest
        let received: Int

        /// The error, with the progress.
        var error: ImageError {
            ImageError(
                .deadlineExceeded,
                "only \(received) of the \(load.uploadBytes) announced bytes arrived: the next "
                    + "chunk must follow within \(UploadSessions.silenceMilliseconds / 1_000) s, "
                    + "and the whole upload must finish within the timeout")
        }
    }

    /// An upload in progress.
    private final class Upload {
        let load: LoadRequest
        /// Digest of the bytes received so far; identifies the upload when complete.
        let digest: BLAKE2bDigest
        /// The block, which is at most twice as large as the received bytes.
        private(set) var block: OutputBlock?
        private(set) var received = 0
        let announcedAt: Instant
        private(set) var heardAt: Instant

        init(
            _ load: LoadRequest, announcedAt: Instant, heardAt: Instant
        ) throws(SodiumError) {
            self.load = load
            digest = try BLAKE2bDigest()
            (self.announcedAt, self.heardAt) = (announcedAt, heardAt)
        }

        /// The size of its block in bytes.
        var heldBytes: UInt64 { UInt64(block?.bytes.count ?? 0) }

        /// When it times out unless a chunk arrives before.
        var deadline: Instant {
            min(
                heardAt.adding(milliseconds: UploadSessions.silenceMilliseconds),
                announcedAt.adding(milliseconds: load.image.timeoutMilliseconds))
        }

        /// Returns the load with its timeout reduced by the time since it was announced.
        func loadInTimeLeft(at now: Instant) -> LoadRequest {
            var left = load
            left.image.timeoutMilliseconds = max(
                1, load.image.timeoutMilliseconds - now.milliseconds(since: announcedAt))
            return left
        }

        /// Returns whether a chunk continues the upload without a gap.
        func follows(_ chunk: Chunk) -> Bool {
            chunk.offset == UInt64(received) && chunk.total == load.uploadBytes
                && UInt64(received + chunk.bytes.count) <= load.uploadBytes
        }

        /// Returns the block size needed for a chunk; nil if the block is large enough.
        func bytesWanted(for chunk: Chunk) -> Int? {
            let (needed, has) = (received + chunk.bytes.count, block?.bytes.count ?? 0)
            guard block == nil || needed > has else { return nil }
            return min(Int(load.uploadBytes), max(needed, 2 * max(has, Self.firstBytes)))
        }

        func grow(to bytes: Int, in space: any OutputSpace) throws(ImageError) {
            if let block {
                self.block = try space.resize(block, to: bytes, keeping: received)
            } else {
                block = try space.reserve(bytes)
            }
        }

        /// Appends a chunk. Precondition: it fits.
        func append(_ chunk: Chunk, at now: Instant) {
            guard let bytes = block?.bytes else { return }
            let needed = received + chunk.bytes.count
            UnsafeMutableRawBufferPointer(rebasing: bytes[received..<needed])
                .copyBytes(from: chunk.bytes)
            digest.update(chunk.bytes)
            received = needed
            heardAt = now
        }

        var isComplete: Bool { UInt64(received) == load.uploadBytes }

        /// Half of the first allocation; the first chunk has at most 60 KiB.
        private static let firstBytes = 128 << 10
    }
}

// Uploads (PROTOCOL §10.1): chunks are assembled in a block of the coordinator, which decoders and
// the cache read like any other.
extension Coordinator {
    /// Registers the coordinator as the producer of uploads.
    mutating func joinAsProducer() {
        handle(
            .workerJoined(
                .coordinator, kind: .coordinator, incarnation: bootstrap.incarnation, credit: 0))
        handle(.segmentsOpened(.coordinator, arena.allSegments()))
        _ = arena.drainAnnouncements()
    }

    mutating func beginUpload(_ load: LoadRequest, for id: UInt64) {
        let client = ClientID(id)
        do throws(ImageError) {
            guard shutdown.isServing else {
                throw ImageError(.shuttingDown, "the stack is shutting down")
            }
            try uploads.begin(load, of: client, bytesMax: uploadBytesMax, at: now)
            watchUploads()
            counters.uploads += 1
        } catch {
            refuse(load, error, for: client)
        }
    }

    /// Handles a chunk of an upload; the last one admits the request.
    mutating func receive(_ chunk: Chunk, for id: UInt64) {
        let client = ClientID(id)
        do throws(ImageError) {
            let complete = try uploads.receive(chunk, of: client, at: now)
            announceSegments()
            if let complete { admit(complete, for: id) }
        } catch {
            if let load = uploads.giveUp(chunk.token, of: client) {
                refuse(load, error, for: client)
            }
        }
        if let bytes = uploads.dueAcknowledgment(of: client) {
            send(.toClient(.taken(bytes)), to: id)
        }
    }

    private mutating func admit(_ upload: UploadSessions.Complete, for id: UInt64) {
        var load = upload.load
        load.image.url = "\(Scheduler.uploadScheme):\(upload.digest.finish())"
        expectChunks(upload.load, for: id)
        let reference = upload.block.reference(length: Int(load.uploadBytes))
        let format = upload.block.format(length: Int(load.uploadBytes))
        // On admin/, an upload with an explicit key is stored under that key.
        if peers[id]?.listener == .admin, load.image.context.key != nil {
            var unnamed = load
            unnamed.image.context.key = nil
            // As for other commands, no name means the default cache, whatever the profile says.
            unnamed.image.context.cache = unnamed.image.context.cache ?? "default"
            let terms = resolve(unnamed, isUpload: true).terms
            return handle(.put(ClientID(id), load, terms, reference, format))
        }
        if peers[id]?.listener == .web {
            load.image.context.profile = configuration.untrustedProfile
        }
        let resolved = resolve(load, isUpload: true)
        let event = SchedulerEvent.loadUpload(
            ClientID(id), resolved.load, resolved.terms, reference, format)
        handle(event)
    }

    /// Aborts uploads that timed out.
    mutating func expireUploads() {
        for upload in uploads.expire(at: now) {
            refuse(upload.load, upload.error, for: upload.client)
        }
        watchUploads()
    }

    private mutating func watchUploads() {
        if let due = uploads.nextDeadline { timers.arm(.expireUploads, by: due) }
    }

    /// Rejects a load that the scheduler never saw; if it was resent, a reply is still to come.
    mutating func refuse(_ load: LoadRequest, _ error: ImageError, for client: ClientID) {
        guard !scheduler.hasLive(load.token, of: client) else { return }
        let reply = Reply(token: load.token, outcome: .failure(error))
        send(.reply(reply), to: client)
        log(RequestRecord(load, reply))
    }

    mutating func free(_ blocks: [BlockID]) {
        for block in blocks {
            arena.free(block)
            uploads.freed(block)
        }
        announceSegments()
    }

    private mutating func announceSegments() {
        let changes = arena.drainAnnouncements()
        if !changes.opened.isEmpty {
            handle(.segmentsOpened(.coordinator, changes.opened))
        }
        if !changes.closed.isEmpty {
            handle(.segmentsClosed(.coordinator, changes.closed))
        }
    }
}
