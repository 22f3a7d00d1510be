import Admission
import Bootstrap
import ImageModel
import Messages
import SharedArena
import Sodium
import StageContract

// Images that clients bring along (PROTOCOL §10.1): pieces become a block of the coordinator's
// own, which decoders and the cache read like any other.
extension Coordinator {
    /// The coordinator is the producer of what clients bring along.
    mutating func joinAsProducer(at now: Instant) {
        handle(
            .workerJoined(
                .coordinator, kind: .coordinator, incarnation: bootstrap.incarnation, credit: 0),
            at: now)
        handle(.segmentsOpened(.coordinator, arena.allSegments()), at: now)
        _ = arena.takeAnnouncements()
    }

    /// A load that brings its bytes along.
    mutating func beginUpload(_ load: LoadRequest, for id: UInt64, at now: Instant) {
        let client = ClientID(id)
        do throws(ImageError) {
            guard shutdown.isServing else {
                throw ImageError(.shuttingDown, "the stack is shutting down")
            }
            try uploads.begin(load, of: client, bytesMax: uploadBytesMax, at: now)
            watchUploads()
            counters.uploads += 1
        } catch {
            refuse(load, error, for: client, at: now)
        }
    }

    /// A part of such bytes; with the last one the request is admitted.
    mutating func take(_ piece: Piece, for id: UInt64, at now: Instant) {
        let client = ClientID(id)
        do throws(ImageError) {
            let complete = try uploads.take(piece, of: client, at: now)
            announceSegments(at: now)
            if let complete { admit(complete, for: id, at: now) }
        } catch {
            if let load = uploads.giveUp(piece.token, of: client) {
                refuse(load, error, for: client, at: now)
            }
        }
        if let bytes = uploads.takeUntold(of: client) {
            send(.toClient(.taken(bytes)), to: id, at: now)
        }
    }

    private mutating func admit(_ upload: UploadSessions.Complete, for id: UInt64, at now: Instant)
    {
        var load = upload.load
        load.image.url = "\(Scheduler.uploadScheme):\(upload.digest.finish())"
        expectPieces(upload.load, for: id, at: now)
        let reference = upload.block.reference(length: Int(load.uploadBytes))
        let format = upload.block.format(length: Int(load.uploadBytes))
        // On admin/, bytes with a key of their own are put under it.
        if peers[id]?.listener == .admin, load.image.context.key != nil {
            var unnamed = load
            unnamed.image.context.key = nil
            // As for other commands, no name is the default cache, whatever the profile says.
            unnamed.image.context.cache = unnamed.image.context.cache ?? "default"
            let terms = resolve(unnamed, isUpload: true).terms
            return handle(.put(ClientID(id), load, terms, reference, format), at: now)
        }
        if peers[id]?.listener == .web {
            load.image.context.profile = configuration.profileForStrangers
        }
        let resolved = resolve(load, isUpload: true)
        let event = SchedulerEvent.loadUpload(
            ClientID(id), resolved.load, resolved.terms, reference, format)
        handle(event, at: now)
    }

    /// Uploads of which nothing has come for long, or not all in time.
    mutating func expireUploads(at now: Instant) {
        for upload in uploads.expire(at: now) {
            refuse(upload.load, upload.error, for: upload.client, at: now)
        }
        watchUploads()
    }

    private mutating func watchUploads() {
        if let due = uploads.nextDeadline { timers.arm(.expireUploads, by: due) }
    }

    /// A load ends that the scheduler never saw; one that was sent again has its reply to come.
    mutating func refuse(
        _ load: LoadRequest, _ error: ImageError, for client: ClientID, at now: Instant
    ) {
        guard !scheduler.hasLive(load.token, of: client) else { return }
        let reply = Reply(token: load.token, outcome: .failure(error))
        send(.toClient(.reply(reply)), to: client.value, at: now)
        log(RequestRecord(load, reply), at: now)
    }

    /// Blocks of ours are free again.
    mutating func free(_ blocks: [BlockID], at now: Instant) {
        for block in blocks {
            arena.free(block)
            uploads.freed(block)
        }
        announceSegments(at: now)
    }

    private mutating func announceSegments(at now: Instant) {
        let changes = arena.takeAnnouncements()
        if !changes.opened.isEmpty {
            handle(.segmentsOpened(.coordinator, changes.opened), at: now)
        }
        if !changes.closed.isEmpty {
            handle(.segmentsClosed(.coordinator, changes.closed), at: now)
        }
    }
}
