import CMessages

@testable import Wire

/// Records which line of which message declares which field, as visited by `FieldDrawer`.
final class FieldLog {
    /// The recorded data of one field of `imagebus.proto`.
    struct Line {
        let field: String
        var limit: Int?
    }

    var values: RandomValues
    /// By the name of the message and the number of the field.
    private(set) var lines: [String: [UInt32: Line]] = [:]
    /// Fields that one pass over a message visited twice.
    private(set) var twice: Set<String> = []

    /// The messages for which texts were drawn, by the names of their fields.
    private(set) var texts: [String: String] = [:]
    /// The message that is being drawn.
    var message = ""
    /// The field whose texts are made one byte too long, and the limit that they exceed.
    var broken: (field: String, limit: Int)?

    /// Whether to draw a text that is too long.
    func breaks(_ field: String, limit: Int) -> Bool {
        texts[field] = message
        guard field == broken?.field else { return false }
        broken?.limit = limit
        return true
    }

    /// Whether to record `properties`, which is slow.
    var notesProperties = false
    /// The properties of messages, and whether a value was drawn that differs from a blank
    /// message's.
    private(set) var properties: [String: Bool] = [:]

    func note<Message: WireMessage>(_ message: Message) {
        let mirror = Mirror(reflecting: message)
        guard notesProperties, mirror.displayStyle == .struct else { return }
        for (property, blank) in zip(mirror.children, Mirror(reflecting: Message.blank).children) {
            let name = "\(Message.self).\(property.label ?? "")"
            let isBlank = (property.value as? any Equatable)?.isEqual(to: blank.value) ?? true
            properties[name] = (properties[name] ?? false) || !isBlank
        }
    }

    init(seed: UInt64) { values = RandomValues(seed: seed) }

    fileprivate func note(_ message: String, _ number: UInt32, _ field: String, _ limit: Int?) {
        // The limit of a value in a name-value pair depends on the name.
        let limits = [lines[message]?[number]?.limit, limit].compactMap(\.self)
        lines[message, default: [:]][number] = Line(field: field, limit: limits.max())
    }

    fileprivate func noteTwice(_ field: String) { twice.insert(field) }
}

/// One pass over the fields of one message.
final class FieldPass {
    private let log: FieldLog
    private let base: UnsafeRawPointer
    private let descriptor: ProtobufCMessageDescriptor
    private var seen: Set<UInt32> = []
    /// The next field of a `oneof`: it has no address of its own.
    private var next: UInt32 = 0
    /// The chosen fields, by the offset of the case member; 0 for none.
    private var chosen: [Int: UInt32] = [:]

    init(_ log: FieldLog, _ base: UnsafeRawPointer) {
        (self.log, self.base) = (log, base)
        descriptor = base.assumingMemoryBound(to: ProtobufCMessage.self).pointee.descriptor.pointee
    }

    var message: String { String(cString: descriptor.name) }

    /// Records a field of a `oneof`, identified by its number.
    func note(_ number: UInt32) {
        next = number
        add(number, message)
    }

    /// The field of a `oneof` to draw, or none; all with equal probability.
    func choice(_ which: UnsafeRawPointer) -> UInt32 {
        let offset = which - base
        let fields = (0..<Int(descriptor.n_fields)).map { descriptor.fields[$0] }
        let numbers = fields.filter { Int($0.quantifier_offset) == offset }.map(\.id)
        let number = chosen[offset] ?? (numbers + [0]).randomElement(using: &log.values.source)
        chosen[offset] = number
        return number ?? 0
    }

    /// Records any other field, identified by the offset of its member.
    func note(_ member: UnsafeRawPointer, _ field: String, limit: Int? = nil) {
        let offset = member - base
        guard offset >= 0, offset < descriptor.sizeof_message else {
            return log.note(message, next, field, limit)
        }
        for index in 0..<Int(descriptor.n_fields) where descriptor.fields[index].offset == offset {
            let number = descriptor.fields[index].id
            add(number, field)
            log.note(message, number, field, limit)
        }
    }

    private func add(_ number: UInt32, _ field: String) {
        if !seen.insert(number).inserted { log.noteTwice("\(field) \(number)") }
    }
}
