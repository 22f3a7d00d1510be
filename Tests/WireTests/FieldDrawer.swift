import CMessages
import Model

@testable import Wire

/// Draws a random value for each field by its rule, and records the line that declares the field.
struct FieldDrawer: FieldMap {
    let log: FieldLog
    let pass: FieldPass
    let container: String
    /// Whether values are kept: those that must be consistent with one another.
    let keeps: Bool

    /// A random value within all limits.
    static func draw<Message: WireMessage>(_ log: FieldLog, in container: String = "") -> Message {
        let form = UnsafeMutablePointer<Message.Form>.allocate(capacity: 1)
        defer { form.deallocate() }
        for _ in 0..<2_000 {
            Message.begin(form)
            let whole = whole(log) as Message?
            var value = whole ?? .blank
            let drawer = FieldDrawer(
                log: log, pass: FieldPass(log, form), container: container, keeps: whole != nil)
            // Values that violate a rule across fields are drawn again.
            do { try value.fields(drawer, form) } catch { continue }
            log.note(value)
            return value
        }
        preconditionFailure("\(Message.self) cannot be drawn")
    }

    /// Values whose fields must be consistent.
    private static func whole<Message>(_ log: FieldLog) -> Message? {
        switch Message.self {
        case is PixelLayout.Type: log.values.layout() as? Message
        case is LatencyHistogram.Type: log.values.histogram() as? Message
        case is ImageError.Type: log.values.error() as? Message
        default: nil
        }
    }

    var stores: Bool { true }

    func chosen(_ number: UInt32, _ which: inout some RawRepresentable<UInt32>) -> UInt32 {
        if keeps { return number }
        let choice = withUnsafePointer(to: &which) { pass.choice(UnsafeRawPointer($0)) }
        if choice != 0 { pass.note(choice) }
        return choice
    }

    func has(
        _ isPresent: Bool, _ which: inout some RawRepresentable<UInt32>, _ number: UInt32
    ) -> Bool {
        pass.note(number)
        let choice = withUnsafePointer(to: &which) { pass.choice(UnsafeRawPointer($0)) }
        return keeps ? isPresent : choice == number
    }

    func has(_ isPresent: Bool, _ member: inout ProtobufCBinaryData) -> Bool {
        keeps ? isPresent : log.values.bool()
    }

    private func note<Member>(_ member: inout Member, _ field: String, limit: Int? = nil) {
        withUnsafePointer(to: &member) { pass.note(UnsafeRawPointer($0), field, limit: limit) }
    }

    func number<Number: FixedWidthInteger, Raw: FixedWidthInteger>(
        _ value: inout Number, _ member: inout Raw, _ field: String
    ) {
        note(&member, field)
        if !keeps { value = log.values.number(common(Number.self, Raw.self)) }
    }

    func number<Number: FixedWidthInteger, Raw: FixedWidthInteger>(
        _ value: inout Number, within range: ClosedRange<Number>, _ member: inout Raw,
        _ field: String
    ) {
        note(&member, field)
        if !keeps { value = log.values.number(range.clamped(to: common(Number.self, Raw.self))) }
    }

    /// The range that both types can represent.
    private func common<Number: FixedWidthInteger, Raw: FixedWidthInteger>(
        _ number: Number.Type, _ raw: Raw.Type
    ) -> ClosedRange<Number> { Number(clamping: Raw.min)...Number(clamping: Raw.max) }

    func finite(_ value: inout Double, _ member: inout Double, _ field: String) {
        note(&member, field)
        if keeps { return }
        // An opacity is stored in thousandths, which the largest numbers can't be multiplied into.
        let isKeptInParts = field == "Overlay.opacity"
        value = isKeptInParts ? Double(log.values.number(0...1_000)) / 1_000 : log.values.finite()
    }

    func flag(_ value: inout Bool, _ member: inout protobuf_c_boolean, _ field: String) {
        note(&member, field)
        if !keeps { value = log.values.bool() }
    }

    func word<Word: RawRepresentable>(
        _ value: inout Word, _ member: inout some RawRepresentable<some FixedWidthInteger>,
        _ field: String
    ) where Word.RawValue: FixedWidthInteger {
        note(&member, field)
        value = keeps ? value : word() ?? value
    }

    private func word<Word: RawRepresentable>() -> Word? where Word.RawValue: FixedWidthInteger {
        let numbers = [-1...101, 1_000...1_003, 2_000...2_004, 3_000...3_027].joined()
        let words = numbers.compactMap { number in
            Word.RawValue(exactly: number).flatMap { Word(rawValue: $0) }
        }
        return words.randomElement(using: &log.values.source)
    }

    func tiers(_ value: inout CacheTypes, _ member: inout UInt32, _ field: String) {
        note(&member, field)
        if !keeps { value = log.values.tiers() }
    }

    func identifier(
        _ value: inout Identifier128, _ member: inout ProtobufCBinaryData, _ field: String
    ) {
        note(&member, field, limit: Identifier128.byteCount)
        if !keeps { value = log.values.identifier() }
    }

    func data(
        _ value: inout [UInt8], _ member: inout ProtobufCBinaryData, _ field: String, limit: Int
    ) {
        note(&member, field, limit: limit)
        if !keeps { value = log.values.list(min(limit, 32)...min(limit, 32)) { $0.number() } }
    }

    func numbers<Number: FixedWidthInteger>(
        _ value: inout [Number], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<Number>?, _ field: String, limit: Int, least: Number
    ) {
        note(&member, field, limit: limit)
        if !keeps { value = log.values.list(0...min(limit, 20)) { $0.number(least...Number.max) } }
    }
}

// Texts and messages.
extension FieldDrawer {
    /// Names of settings whose values are numbers, by their list.
    private static let settings = [
        "Output.settings": ["effort", "colours", "dither"],
        "Cache.settings": ["memory-entries", "disk-entries", "low-water"],
        "DownloadSettings.settings": ["redirect-limit", "continuation-limit", "low-speed"],
    ]

    private func drawn(_ field: String, limit: Int) -> String {
        if let names = Self.settings[container], field.hasPrefix("Detail.") {
            return field == "Detail.name"
                ? names[log.values.number(0...2)] : "\(log.values.number(2...9) as Int)"
        }
        if container == "ImageFacts.exif", field == "Detail.name" {
            return ExifField.allCases[log.values.number(0...12)].rawValue
        }
        if field == "Decryptor.key" {
            return (0..<64).map { _ in "\(log.values.number(0...9) as Int)" }.joined()
        }
        if field == "NamedStep.name" { return "vendor.step-\(log.values.number(0...9) as Int)" }
        if log.breaks(field, limit: limit) { return String(repeating: "x", count: limit + 1) }
        // A non-ASCII byte takes three bytes once a URL is percent-encoded.
        let limit = field.hasSuffix(".url") ? limit / 3 : max(limit, 0)
        return log.values.text(log.values.number(0...9) == 0 ? limit : min(limit, 40))
    }

    func text(_ value: inout String, _ member: inout CText?, _ field: String, limit: Int) {
        note(&member, field, limit: limit)
        if !keeps { value = drawn(field, limit: limit) }
    }

    func formed<Text: FormedText>(
        _ value: inout Text?, _ member: inout CText?, _ field: String, limit: Int
    ) {
        note(&member, field, limit: limit)
        if !keeps { value = log.values.formed() }
    }

    func texts(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, countMax: Int, limit: Int
    ) {
        note(&member, field, limit: countMax)
        if !keeps { value = log.values.list(0...min(countMax, 8)) { $0.poolName().text } }
    }

    func part<Part: WireMessage>(
        _ value: inout Part, _ member: inout CPart<Part.Form>?, _ field: String
    ) {
        note(&member, field)
        if !keeps { value = Self.draw(log, in: field) }
    }

    func part<Part: WireMessage>(
        _ value: inout Part, unless isUsual: Bool, _ member: inout CPart<Part.Form>?,
        _ field: String
    ) {
        part(&value, &member, field)
    }

    func maybe<Part: WireMessage>(
        _ value: inout Part?, _ member: inout CPart<Part.Form>?, _ field: String
    ) {
        note(&member, field)
        if !keeps {
            value = log.values.bool() ? Self.draw(log, in: field) : nil
        } else if value != nil {
            // Its lines are recorded all the same.
            _ = Self.draw(log, in: field) as Part
        }
    }

    func list<Part: WireMessage>(
        _ value: inout [Part], _ count: inout Int, _ member: inout CList<Part.Form>?,
        _ field: String, limit: Int
    ) {
        note(&member, field, limit: limit)
        if keeps {
            // Their lines are recorded all the same.
            for _ in value { _ = Self.draw(log, in: field) as Part }
        } else {
            let drawn = log.values.number(0...min(limit, 3)) as Int
            value = (0..<drawn).map { _ in Self.draw(log, in: field) }
        }
    }
}
