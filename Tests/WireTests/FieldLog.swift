import CMessages

@testable import Wire

/// Which line of which message said what, as `FieldDrawer` came by.
final class FieldLog {
    /// What is known of one field of `imagebus.proto`.
    struct Line {
        let field: String
        var limit: Int?
    }

    var values: RandomValues
    /// By the name of the message and the number of the field.
    private(set) var lines: [String: [UInt32: Line]] = [:]
    /// Fields that one pass over a message came by twice.
    private(set) var twice: Set<String> = []

    /// The messages that texts were drawn for, by the names of their fields.
    private(set) var texts: [String: String] = [:]
    /// The message that is drawn.
    var message = ""
    /// The field whose texts are one byte too long, and the limit that they break.
    var broken: (field: String, limit: Int)?

    /// Whether a text is one that is too long.
    func breaks(_ field: String, limit: Int) -> Bool {
        texts[field] = message
        guard field == broken?.field else { return false }
        broken?.limit = limit
        return true
    }

    /// Whether `properties` are noted, which takes long.
    var notesProperties = false
    /// The properties of messages, and whether one was drawn that is not as in a blank message.
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
        // That of a value beside a name depends on the name.
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
    /// The field of a `oneof` that comes next: it has no address of its own.
    private var next: UInt32 = 0
    /// The fields that were chosen, by the place of the member that says which; 0 for none.
    private var chosen: [Int: UInt32] = [:]

    init(_ log: FieldLog, _ base: UnsafeRawPointer) {
        (self.log, self.base) = (log, base)
        descriptor = base.assumingMemoryBound(to: ProtobufCMessage.self).pointee.descriptor.pointee
    }

    var message: String { String(cString: descriptor.name) }

    /// A field of a `oneof` is named by its number.
    func note(_ number: UInt32) {
        next = number
        add(number, message)
    }

    /// The field of a `oneof` that is drawn, or none; each as often as the others.
    func choice(_ which: UnsafeRawPointer) -> UInt32 {
        let offset = which - base
        let fields = (0..<Int(descriptor.n_fields)).map { descriptor.fields[$0] }
        let numbers = fields.filter { Int($0.quantifier_offset) == offset }.map(\.id)
        let number = chosen[offset] ?? (numbers + [0]).randomElement(using: &log.values.source)
        chosen[offset] = number
        return number ?? 0
    }

    /// Every other field by the place of its member.
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
