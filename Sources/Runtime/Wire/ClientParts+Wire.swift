import CMessages
import ImageModel
import Messages

extension ClientHello: WireMessage {
    typealias Form = Imagebus__V1__ClientHello
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__client_hello__init }
    static var blank: Self { Self(incarnation: .blank, pid: 0, version: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&incarnation, &wire.pointee.incarnation, "ClientHello.incarnation")
        try map.number(&pid, &wire.pointee.pid, "ClientHello.pid")
        try map.text(
            &version, &wire.pointee.version, "ClientHello.version",
            limit: MessageLimits.textBytesMax)
        map.flag(&wantsPieces, &wire.pointee.wants_pieces, "ClientHello.wants_pieces")
        try map.secret(&secret, &wire.pointee.secret, "ClientHello.secret")
        try map.maybe(&front, &wire.pointee.front, "ClientHello.front")
        map.flag(&takesBatches, &wire.pointee.takes_batches, "ClientHello.takes_batches")
    }
}

extension FrontProcess: WireMessage {
    typealias Form = Imagebus__V1__FrontProcess
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__front_process__init }
    static var blank: Self { Self(name: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &name, &wire.pointee.name, "FrontProcess.name", limit: Self.nameBytesMax)
        try map.number(&restarts, &wire.pointee.restarts, "FrontProcess.restarts")
        try map.bits(&sandbox, &wire.pointee.sandbox, "FrontProcess.sandbox")
    }
}

extension ClientWelcome: WireMessage {
    typealias Form = Imagebus__V1__ClientWelcome
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__client_welcome__init }
    static var blank: Self { Self(epoch: .blank, window: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&epoch, &wire.pointee.epoch, "ClientWelcome.epoch")
        try map.number(&window, &wire.pointee.window, "ClientWelcome.window")
        try map.number(&pieceWindow, &wire.pointee.piece_window, "ClientWelcome.piece_window")
        try map.number(&voucherWords, &wire.pointee.voucher_words, "ClientWelcome.voucher_words")
        try map.number(&clock.nanoseconds, &wire.pointee.clock, "ClientWelcome.clock")
        try map.number(&loadsMax, &wire.pointee.loads_max, "ClientWelcome.loads_max")
    }
}

extension LoadRequest: WireMessage {
    typealias Form = Imagebus__V1__Load
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__load__init }
    static var blank: Self { Self(token: .blank, image: .blank) }

    /// Every fault after the token is about this request.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Load.token")
        do {
            try map.identifier(maybe: &group, &wire.pointee.group, "Load.group")
            try map.part(&image, &wire.pointee.image, "Load.image")
            map.flag(&wantsProgress, &wire.pointee.wants_progress, "Load.wants_progress")
            map.flag(&wantsInfo, &wire.pointee.wants_info, "Load.wants_info")
            try map.number(&staleRetries, &wire.pointee.stale_retries, "Load.stale_retries")
            map.flag(&detach, &wire.pointee.detach, "Load.detach")
            map.flag(&wantsPieces, &wire.pointee.wants_pieces, "Load.wants_pieces")
            try map.number(&uploadBytes, &wire.pointee.upload_bytes, "Load.upload_bytes")
            try map.name(&slot, &wire.pointee.slot, "Load.slot")
            try map.formed(&logContext.trace, &wire.pointee.traceparent, "Load.traceparent")
            try map.number(&visitor, &wire.pointee.visitor, "Load.visitor")
            try map.formed(&logContext.requestID, &wire.pointee.request_id, "Load.request_id")
            map.flag(&logContext.isProbe, &wire.pointee.is_probe, "Load.is_probe")
        } catch {
            throw error.about(token)
        }
    }
}
