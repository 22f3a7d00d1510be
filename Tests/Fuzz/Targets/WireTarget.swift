import Model
import Wire

/// The first byte selects the direction, the next eight are the first frame, the rest is the
/// second.
///
/// The input decodes to a typed error, or to a message that encodes to bytes that decode to the
/// same message.
enum WireTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        guard let direction = bytes.first else { return }
        let frames = bytes.dropFirst()
        let header = Array(frames.prefix(FrameHeader.byteCount))
        let body = Array(frames.dropFirst(FrameHeader.byteCount))
        switch direction % 4 {
        case 0: try each(header, body, .loads, of: .load, clientMessage)
        case 1: try each(header, body, .replies, of: .reply, serverMessage)
        case 2: try workerMessage(header, body)
        default: try workerCommand(header, body)
        }
    }

    /// Calls `body` with the message, or with each body of a batch.
    private static func each(
        _ header: [UInt8], _ body: [UInt8], _ several: MessageKind, of one: MessageKind,
        _ check: ([UInt8], [UInt8]) throws(BrokenInvariant) -> Void
    ) throws(BrokenInvariant) {
        guard (try? FrameHeader(decoding: header.span.bytes))?.kind == several else {
            return try check(header, body)
        }
        var batch = BatchReader()
        guard (try? batch.read(body.span.bytes)) != nil else { return }
        for place in 0..<batch.count {
            let part = batch.body(at: place).withUnsafeBytes { Array($0) }
            try check(FrameHeader(kind: one).bytes, part)
        }
    }

    private static func clientMessage(_ header: [UInt8], _ body: [UInt8]) throws(BrokenInvariant) {
        try check(
            header, body,
            read: { decoder, kind, body throws(WireError) in
                try decoder.clientMessage(kind, body.span.bytes)
            },
            write: { encoder, message throws(WireError) in try encoder.encode(message) })
    }

    private static func serverMessage(_ header: [UInt8], _ body: [UInt8]) throws(BrokenInvariant) {
        try check(
            header, body,
            read: { decoder, kind, body throws(WireError) in
                try decoder.serverMessage(kind, body.span.bytes)
            },
            write: { encoder, message throws(WireError) in try encoder.encode(message) })
    }

    private static func workerMessage(_ header: [UInt8], _ body: [UInt8]) throws(BrokenInvariant) {
        try check(
            header, body,
            read: { decoder, kind, body throws(WireError) in
                try decoder.workerMessage(kind, body.span.bytes)
            },
            write: { encoder, message throws(WireError) in try encoder.encode(message) })
    }

    private static func workerCommand(_ header: [UInt8], _ body: [UInt8]) throws(BrokenInvariant) {
        try check(
            header, body,
            read: { decoder, kind, body throws(WireError) in
                try decoder.workerCommand(kind, body.span.bytes)
            },
            write: { encoder, message throws(WireError) in try encoder.encode(message) })
    }

    private static func check<Message: Hashable>(
        _ header: [UInt8], _ body: [UInt8],
        read: (inout MessageDecoder, MessageKind, [UInt8]) throws(WireError) -> Message,
        write: (inout MessageEncoder, Message) throws(WireError) -> EncodedMessage
    ) throws(BrokenInvariant) {
        var decoder = MessageDecoder()
        var encoder = MessageEncoder()
        let message: Message
        do throws(WireError) {
            let kind = try FrameHeader(decoding: header.span.bytes).kind
            message = try read(&decoder, kind, body)
        } catch { return }
        let (sent, again): (EncodedMessage, Message)
        let packed: [UInt8]
        do throws(WireError) {
            sent = try write(&encoder, message)
            packed = encoder.packed()
            again = try read(&decoder, sent.header.kind, packed)
            _ = try write(&encoder, again)
        } catch {
            throw BrokenInvariant(what: "what was accepted is refused on its way on: \(error)")
        }
        try expect(packed.count == sent.byteCount, "a body has the bytes that it says")
        try expect(again == message, "a message arrives as it was sent")
        try expect(encoder.packed() == packed, "a message has one form")
    }
}
