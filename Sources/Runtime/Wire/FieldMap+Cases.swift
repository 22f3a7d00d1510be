import CMessages
import ImageModel
import Messages

// Fields of a `oneof` of several: `contents` is what the value has of that case, if it is of that
// case, and `put` makes it one of that case. They return whether the message has that field. `if`
// and the number are as for fields that may be absent.
//
// Inlined, the closures are a look at the case: otherwise a value would be copied for each.
extension FieldMap {
    @inline(__always)
    func text(
        _ contents: () -> String?, _ put: (consuming String) -> Void, _ member: inout CText?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String, limit: Int
    ) throws(WireError) -> Bool {
        guard var value = value(contents, "", if: &which, number) else { return false }
        try self.text(&value, &member, field, limit: limit)
        take(consume value, put)
        return true
    }

    @inline(__always)
    func number<Number: FixedWidthInteger>(
        _ contents: () -> Number?, _ put: (consuming Number) -> Void, _ member: inout Number,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        guard var value = value(contents, 0, if: &which, number) else { return false }
        try self.number(&value, &member, field)
        take(consume value, put)
        return true
    }

    @inline(__always)
    func tiers(
        _ contents: () -> CacheTypes?, _ put: (consuming CacheTypes) -> Void,
        _ member: inout UInt32,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        guard var value = value(contents, [], if: &which, number) else { return false }
        try self.tiers(&value, &member, field)
        take(consume value, put)
        return true
    }

    @inline(__always)
    func identifier<ID: WrappedIdentifier>(
        _ contents: () -> ID?, _ put: (consuming ID) -> Void, _ member: inout ProtobufCBinaryData,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        guard var value = value(contents, .blank, if: &which, number) else { return false }
        try self.identifier(&value, &member, field)
        take(consume value, put)
        return true
    }

    @inline(__always)
    func part<Part: WireMessage>(
        _ contents: () -> Part?, _ put: (consuming Part) -> Void, _ member: inout CPart<Part.Form>?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        // A message can be large: it is not handed on in an optional, which would copy it.
        let contents = contents()
        guard has(contents != nil, &which, number) else { return false }
        var part = (consume contents) ?? .blank
        try self.part(&part, &member, field)
        take(consume part, put)
        return true
    }

    /// A case without contents.
    func unit(
        _ isPresent: Bool, _ put: () -> Void, _ member: inout CPart<Imagebus__V1__Unit>?,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) -> Bool {
        try part(
            { isPresent ? Unit() : nil }, { _ in put() }, &member, if: &which, number, field)
    }

    /// The contents, or blank ones that are to be read; `nil` where the message has another field.
    @inline(__always)
    private func value<Contents>(
        _ contents: () -> Contents?, _ blank: @autoclosure () -> Contents,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32
    ) -> Contents? {
        let contents = contents()
        guard has(contents != nil, &which, number) else { return nil }
        return (consume contents) ?? blank()
    }
}

/// A case without contents.
struct Unit: WireMessage {
    typealias Form = Imagebus__V1__Unit
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__unit__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}
