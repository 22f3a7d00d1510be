import CMessages
import Model
import Testing

@testable import Wire

/// The lines of `WireMessage.fields` compared with protobuf-c's descriptors of `imagebus.proto`.
@Suite struct FieldTests {
    /// Every message that is sent by itself.
    private let messages: [any WireMessage.Type] = {
        var seen: Set<ObjectIdentifier> = []
        return Direction.all.flatMap(\.messages).map(\.type)
            .filter { seen.insert(ObjectIdentifier($0)).inserted }
    }()

    private func descriptor<Message: WireMessage>(_ type: Message.Type)
        -> ProtobufCMessageDescriptor
    {
        WireBody.descriptor(of: type).pointee
    }

    private func fields(_ message: ProtobufCMessageDescriptor) -> [ProtobufCFieldDescriptor] {
        (0..<Int(message.n_fields)).map { message.fields[$0] }
    }

    /// All messages by name, including nested ones.
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

    /// The lines visited by random values of all messages, drawn until every field occurred once.
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

    /// Except for `Batch`, which has no value type (`BatchTests`).
    @Test func theMessagesAreThoseOfTheProtoFile() throws {
        let heads = try ProtocolText.read("imagebus.proto").lines.filter { line in
            line.drop { $0 == " " }.hasPrefix("message ")
        }
        #expect(descriptors().count + 1 == heads.count)
    }

    /// It names the field, except in parts whose errors name the containing field, and texts and
    /// lists have a limit.
    @Test func everyFieldOfEveryMessageHasOneLine() {
        let log = lines()
        #expect(log.twice.isEmpty)
        let parts: Set = ["Size", "Header", "Names"]
        for (message, fields) in descriptors() {
            let lines = log.lines[message, default: [:]]
            #expect(Set(lines.keys) == Set(fields.map(\.id)), "\(message)")
            let word = String(message.split(separator: ".").last ?? "")
            let isNamed = !parts.contains(word) && !message.hasSuffix("Histogram")
            for field in fields {
                let (line, name) = (lines[field.id], "\(word).\(String(cString: field.name))")
                #expect(!isNamed || line?.field == name, "\(message)")
                #expect(!isBounded(field) || line?.limit ?? 0 > 0, "\(name)")
            }
        }
    }

    /// Headers have a combined limit, the limits of details depend on their container, and errors
    /// are truncated.
    @Test func noTextThatIsTooLongIsWritten() throws {
        let log = lines()
        let names = log.texts.filter { name, _ in
            !name.hasSuffix(".headers") && name != "TransferTerms.response_headers"
                && !name.hasPrefix("Detail.") && !name.hasPrefix("ForeignFailure.")
                // It is composed of known directives, which are few.
                && name != "OriginCaching.cache_control"
        }
        #expect(names.count > 25)
        for (field, message) in names {
            let type = try #require(messages.first { "\($0)" == message })
            let found = refusal(of: type, log, tooLong: field)
            let limit = try #require(log.broken?.limit)
            #expect(found == FieldError(field: field, problem: .tooLong(limit: limit)))
        }
    }

    /// Why a message with an oversized text isn't encoded; drawn until it contains one.
    private func refusal<Message: WireMessage>(
        of type: Message.Type, _ log: FieldLog, tooLong field: String
    ) -> FieldError? {
        log.broken = (field, 0)
        for _ in 0..<2_000 {
            do {
                _ = try WireBody.written(FieldDrawer.draw(log) as Message)
            } catch {
                guard case .field(let fault, _) = error else { return nil }
                return fault
            }
        }
        return nil
    }

    /// Every random message is encoded, and decoded to an equal one.
    @Test func everyMessageThatIsWithinItsRulesTravels() throws {
        let log = FieldLog(seed: 2)
        for _ in 0..<50 { for message in messages { try travels(message, log) } }
    }

    private func travels<Message: WireMessage>(_ type: Message.Type, _ log: FieldLog) throws {
        let sent: Message = FieldDrawer.draw(log)
        let body = try WireBody.written(sent)
        let arrived = try #require(WireBody.read(body) as Message?, "\(type)")
        #expect(try WireBody.written(arrived) == body, "\(type)")
        if let arrived = arrived as? any Equatable {
            #expect(arrived.isEqual(to: sent), "\(type)")
        }
    }

    /// A property without a line would keep its blank value.
    @Test func everyPropertyOfEveryMessageHasALine() {
        let log = FieldLog(seed: 3)
        log.notesProperties = true
        func draw<Message: WireMessage>(_ type: Message.Type) {
            _ = FieldDrawer.draw(log) as Message
        }
        for _ in 0..<1_000 { for message in messages { draw(message) } }
        #expect(log.properties.count > 100)
        // Random text contains no directive, so it leaves the property unchanged. The selection of
        // caches to inform is not sent to them, nor is whether a message says what to do.
        let silent = [
            "EntryWork.staysOwn", "ImageError.includesAdvice", "OriginCaching.cacheControl",
        ]
        #expect(log.properties.filter { !$0.value }.keys.sorted() == silent)
    }
}

extension Equatable {
    /// Whether `other` is of the same type and equal.
    func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}
