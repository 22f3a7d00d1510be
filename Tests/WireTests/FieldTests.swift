import CMessages
import ImageModel
import Messages
import Testing

@testable import Wire

/// The lines of `WireMessage.fields` against what protobuf-c knows of `imagebus.proto`.
@Suite struct FieldTests {
    /// Every message that is sent by itself.
    private let messages: [any WireMessage.Type] = [
        WorkerHello.self, WorkerWelcome.self, HelloRequiredMessage.self, CreditGrant.self,
        Job.self, JobAdjustment.self, JobProgress.self, JobOutcome.self, CancelledJob.self,
        ReleaseBlocks.self, StoredNotice.self, EvictedBlocks.self, TouchedBlocks.self,
        DrainMessage.self, GoodbyeReason.self, AnnouncedSegments.self, Refusal.self,
        CacheStatus.self, ClientHello.self, ClientWelcome.self, LoadRequest.self,
        Cancellation.self, Reprioritisation.self, PrefetchRequest.self, PrefetchReport.self,
        StatusMessage.self, BlacklistCommand.self, CacheCommand.self, CacheReport.self,
        Piece.self, TakenBytes.self, RequestProgress.self, Reply.self, StatusReport.self,
        BlacklistReport.self, DrainOrder.self, DrainAnswer.self,
    ]

    private static func pointer<Message: WireMessage>(_ type: Message.Type)
        -> UnsafePointer<ProtobufCMessageDescriptor>
    {
        let form = UnsafeMutablePointer<Message.Form>.allocate(capacity: 1)
        defer { form.deallocate() }
        Message.begin(form)
        return UnsafeRawPointer(form).assumingMemoryBound(to: ProtobufCMessage.self).pointee
            .descriptor
    }

    private func descriptor<Message: WireMessage>(_ type: Message.Type)
        -> ProtobufCMessageDescriptor
    {
        Self.pointer(type).pointee
    }

    private func fields(_ message: ProtobufCMessageDescriptor) -> [ProtobufCFieldDescriptor] {
        (0..<Int(message.n_fields)).map { message.fields[$0] }
    }

    /// All messages, by name, with those that are in them.
    private func descriptors() -> [String: [ProtobufCFieldDescriptor]] {
        var found: [String: [ProtobufCFieldDescriptor]] = [:]
        var rest = messages.map { descriptor($0) }
        while let next = rest.popLast() {
            guard found.updateValue(fields(next), forKey: String(cString: next.name)) == nil
            else { continue }
            for field in fields(next) where field.type == PROTOBUF_C_TYPE_MESSAGE {
                rest.append(
                    field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
                        .pointee)
            }
        }
        return found
    }

    private func isBounded(_ field: ProtobufCFieldDescriptor) -> Bool {
        field.label == PROTOBUF_C_LABEL_REPEATED || field.type == PROTOBUF_C_TYPE_STRING
            || field.type == PROTOBUF_C_TYPE_BYTES
    }

    /// The lines that values of all messages came by, drawn until all fields were there once.
    private func lines() -> FieldLog {
        let log = FieldLog(seed: 1)
        func draw<Message: WireMessage>(_ type: Message.Type) {
            log.message = "\(type)"
            _ = FieldDrawer.draw(log) as Message
        }
        func isComplete(_ message: String, _ fields: [ProtobufCFieldDescriptor]) -> Bool {
            fields.allSatisfy { field in
                let line = log.lines[message]?[field.id]
                return line != nil && (line?.limit != nil || !isBounded(field))
            }
        }
        let descriptors = descriptors()
        for _ in 0..<1_000 {
            for message in messages { draw(message) }
            if descriptors.allSatisfy({ isComplete($0.key, $0.value) }) { break }
        }
        return log
    }

    @Test func theMessagesAreThoseOfTheProtoFile() throws {
        let heads = try ProtocolText.read("imagebus.proto").lines.filter { line in
            line.drop { $0 == " " }.hasPrefix("message ")
        }
        #expect(descriptors().count == heads.count)
    }

    @Test func everyFieldOfEveryMessageHasOneLine() {
        let log = lines()
        #expect(log.twice.isEmpty)
        for (message, fields) in descriptors() {
            let said = Set(log.lines[message, default: [:]].keys)
            let known = Set(fields.map(\.id))
            #expect(said == known, "\(message)")
        }
    }

    /// But for parts whose faults name the field that they lie in.
    @Test func everyLineNamesItsField() {
        let log = lines()
        let parts: Set = ["Size", "Header", "Names"]
        for (message, fields) in descriptors() {
            let word = String(message.split(separator: ".").last ?? "")
            for field in fields where !parts.contains(word) {
                guard let line = log.lines[message]?[field.id] else { continue }
                let name = "\(word).\(String(cString: field.name))"
                let isOfHistogram = message.hasSuffix("Histogram") && name != line.field
                #expect(line.field == name || isOfHistogram, "\(message)")
            }
        }
    }

    @Test func everyTextAndListHasALimit() {
        let log = lines()
        for (message, fields) in descriptors() {
            for field in fields where isBounded(field) {
                let limit = log.lines[message]?[field.id]?.limit
                #expect(limit ?? 0 > 0, "\(message).\(String(cString: field.name))")
            }
        }
    }

    /// Headers are limited together, details by what they are details of.
    @Test func noTextThatIsTooLongIsWritten() throws {
        let log = lines()
        let names = log.texts.filter { name, _ in
            !name.hasSuffix(".headers") && !name.hasPrefix("Detail.")
        }
        #expect(names.count > 25)
        for (field, message) in names {
            let type = try #require(messages.first { "\($0)" == message })
            let found = refusal(of: type, log, tooLong: field)
            let limit = try #require(log.broken?.limit)
            #expect(found == FieldFault(field: field, problem: .tooLong(limit: limit)))
        }
    }

    /// Why a message with such a text is not written; drawn until there is one.
    private func refusal<Message: WireMessage>(
        of type: Message.Type, _ log: FieldLog, tooLong field: String
    ) -> FieldFault? {
        log.broken = (field, 0)
        for _ in 0..<2_000 {
            let slab = Slab(quota: 4 << 20)
            var message: Message = FieldDrawer.draw(log)
            do {
                _ = try FieldWriter.build(&message, in: slab.region, "")
            } catch {
                guard case .field(let fault, _) = error else { return nil }
                return fault
            }
        }
        return nil
    }

    /// What is drawn by the lines is written, and read again as the same message.
    @Test func everyMessageThatIsWithinItsRulesTravels() throws {
        let log = FieldLog(seed: 2)
        for _ in 0..<20 { for message in messages { try travels(message, log) } }
    }

    private func travels<Message: WireMessage>(_ type: Message.Type, _ log: FieldLog) throws {
        let body = try drawn(type, log)
        #expect(try rewritten(type, body) == body, "\(type)")
    }

    /// Bytes that nobody meant to send are refused, or they are a message that can be sent on.
    @Test func everyMessageThatIsDamagedIsRefusedOrTravels() throws {
        let log = FieldLog(seed: 3)
        var accepted = 0
        for _ in 0..<20 {
            for message in messages { accepted += try damaged(message, log) ? 1 : 0 }
        }
        #expect(accepted > 0 && accepted < 20 * messages.count)
    }

    /// Whether it was accepted.
    private func damaged<Message: WireMessage>(_ type: Message.Type, _ log: FieldLog) throws
        -> Bool
    {
        var body = try drawn(type, log)
        for _ in 0..<3 where !body.isEmpty {
            body[log.values.number(0...body.count - 1)] = log.values.number()
        }
        guard let accepted = try rewritten(type, body) else { return false }
        #expect(try rewritten(type, accepted) == accepted, "\(type)")
        return true
    }

    private func drawn<Message: WireMessage>(_ type: Message.Type, _ log: FieldLog) throws
        -> [UInt8]
    {
        let slab = Slab(quota: 4 << 20)
        var message: Message = FieldDrawer.draw(log)
        return packed(try FieldWriter.build(&message, in: slab.region, ""))
    }

    /// What is written of what is read of a body; `nil` where it is refused.
    private func rewritten<Message: WireMessage>(_ type: Message.Type, _ body: [UInt8]) throws
        -> [UInt8]?
    {
        let slab = Slab(quota: 4 << 20)
        var allocator = slab.allocator
        var message = Message.blank
        guard
            let unpacked = protobuf_c_message_unpack(
                Self.pointer(type), &allocator, body.count, body)
        else { return nil }
        let form = UnsafeMutableRawPointer(unpacked).assumingMemoryBound(to: Message.Form.self)
        let reader = FieldReader(region: slab.region, container: "")
        do { try message.fields(reader, form) } catch { return nil }
        return packed(try FieldWriter.build(&message, in: slab.region, ""))
    }

    private func packed<Form>(_ wire: CPart<Form>) -> [UInt8] {
        let message = UnsafeMutableRawPointer(wire).assumingMemoryBound(to: ProtobufCMessage.self)
        var bytes = [UInt8](repeating: 0, count: protobuf_c_message_get_packed_size(message))
        protobuf_c_message_pack(message, &bytes)
        return bytes
    }
}
