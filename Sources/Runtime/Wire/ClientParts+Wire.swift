import CMessages
import ImageModel
import Messages

extension ClientHello {
    init(_ wire: Imagebus__V1__ClientHello, _ read: FieldReader) throws(WireError) {
        self.init(
            incarnation: Incarnation(
                try read.identifier(wire.incarnation, "ClientHello.incarnation")),
            pid: wire.pid,
            version: try read.text(
                wire.version, "ClientHello.version", limit: MessageLimits.textBytesMax),
            wantsPieces: wire.wants_pieces != 0,
            secret: try ListenerSecret(wire.secret, "ClientHello.secret", read))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__ClientHello>
    {
        let wire = try write.make(imagebus__v1__client_hello__init)
        wire.pointee.incarnation = try write.bytes(incarnation.value)
        wire.pointee.pid = pid
        wire.pointee.version = try write.text(
            version, "ClientHello.version", limit: MessageLimits.textBytesMax)
        wire.pointee.wants_pieces = wantsPieces ? 1 : 0
        if let secret { wire.pointee.secret = try secret.wire("ClientHello.secret", write) }
        return wire
    }
}

extension ClientWelcome {
    init(_ wire: Imagebus__V1__ClientWelcome, _ read: FieldReader) throws(WireError) {
        self.init(
            epoch: Epoch(try read.identifier(wire.epoch, "ClientWelcome.epoch")),
            window: wire.window, pieceWindow: wire.piece_window)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__ClientWelcome>
    {
        let wire = try write.make(imagebus__v1__client_welcome__init)
        wire.pointee.epoch = try write.bytes(epoch.value)
        wire.pointee.window = window
        wire.pointee.piece_window = pieceWindow
        return wire
    }
}

extension LoadRequest {
    /// Every fault after the token is about this request.
    init(_ wire: Imagebus__V1__Load, _ read: FieldReader) throws(WireError) {
        let token = Token(try read.identifier(wire.token, "Load.token"))
        do {
            self.init(
                token: token,
                group: wire.group.len == 0
                    ? nil : GroupID(try read.identifier(wire.group, "Load.group")),
                image: try ImageRequest(try read.required(wire.image, "Load.image"), read),
                wantsProgress: wire.wants_progress != 0,
                staleRetries: try read.exactly(wire.stale_retries, "Load.stale_retries"),
                detach: wire.detach != 0, wantsPieces: wire.wants_pieces != 0,
                uploadBytes: wire.upload_bytes, slot: try read.name(wire.slot, "Load.slot"),
                trace: try read.trace(wire.traceparent, "Load.traceparent"))
        } catch {
            throw error.about(token)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Load> {
        do {
            let wire = try write.make(imagebus__v1__load__init)
            wire.pointee.token = try write.bytes(token.value)
            if let group { wire.pointee.group = try write.bytes(group.value) }
            wire.pointee.image = try image.wire(write)
            wire.pointee.wants_progress = wantsProgress ? 1 : 0
            wire.pointee.stale_retries = UInt32(staleRetries)
            wire.pointee.detach = detach ? 1 : 0
            wire.pointee.wants_pieces = wantsPieces ? 1 : 0
            wire.pointee.upload_bytes = uploadBytes
            wire.pointee.slot = try write.name(slot, "Load.slot")
            wire.pointee.traceparent = try write.trace(trace, "Load.traceparent")
            return wire
        } catch {
            throw error.about(token)
        }
    }
}
