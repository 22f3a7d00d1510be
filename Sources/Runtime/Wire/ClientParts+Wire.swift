import CMessages
import ImageModel
import Messages

extension ClientHello: WireMessage {
    static var begin: (CPart<Imagebus__V1__ClientHello>?) -> Void {
        imagebus__v1__client_hello__init
    }
    static var blank: Self { Self(incarnation: .blank, pid: 0, version: "") }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__ClientHello>
    ) throws(WireError) {
        try map.identifier(&value.incarnation, &wire.pointee.incarnation, "ClientHello.incarnation")
        try map.number(&value.pid, &wire.pointee.pid, "ClientHello.pid")
        try map.text(
            &value.version, &wire.pointee.version, "ClientHello.version",
            limit: MessageLimits.textBytesMax)
        map.flag(&value.wantsPieces, &wire.pointee.wants_pieces, "ClientHello.wants_pieces")
        try map.secret(&value.secret, &wire.pointee.secret, "ClientHello.secret")
    }
}

extension ClientWelcome: WireMessage {
    static var begin: (CPart<Imagebus__V1__ClientWelcome>?) -> Void {
        imagebus__v1__client_welcome__init
    }
    static var blank: Self { Self(epoch: .blank, window: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__ClientWelcome>
    ) throws(WireError) {
        try map.identifier(&value.epoch, &wire.pointee.epoch, "ClientWelcome.epoch")
        try map.number(&value.window, &wire.pointee.window, "ClientWelcome.window")
        try map.number(&value.pieceWindow, &wire.pointee.piece_window, "ClientWelcome.piece_window")
    }
}

extension LoadRequest: WireMessage {
    static var begin: (CPart<Imagebus__V1__Load>?) -> Void { imagebus__v1__load__init }
    static var blank: Self { Self(token: .blank, image: .blank) }

    /// Every fault after the token is about this request.
    static func fields(_ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Load>)
        throws(WireError)
    {
        try map.identifier(&value.token, &wire.pointee.token, "Load.token")
        do {
            try map.identifier(maybe: &value.group, &wire.pointee.group, "Load.group")
            try map.part(&value.image, &wire.pointee.image, "Load.image")
            map.flag(&value.wantsProgress, &wire.pointee.wants_progress, "Load.wants_progress")
            try map.number(&value.staleRetries, &wire.pointee.stale_retries, "Load.stale_retries")
            map.flag(&value.detach, &wire.pointee.detach, "Load.detach")
            map.flag(&value.wantsPieces, &wire.pointee.wants_pieces, "Load.wants_pieces")
            try map.number(&value.uploadBytes, &wire.pointee.upload_bytes, "Load.upload_bytes")
            try map.name(&value.slot, &wire.pointee.slot, "Load.slot")
            try map.formed(&value.trace, &wire.pointee.traceparent, "Load.traceparent")
        } catch {
            throw error.about(value.token)
        }
    }
}
