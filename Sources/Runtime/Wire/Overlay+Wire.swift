import CMessages
import ImageModel
import Messages

extension Overlay: WireMessage {
    typealias Form = Imagebus__V1__Overlay
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__overlay__init }
    static var blank: Self { Self(url: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var (url, x, y, opacity) = (self.url, self.x, self.y, self.opacity)
        try map.text(&url, &wire.pointee.url, "Overlay.url", limit: RequestLimits.urlBytesMax)
        try map.number(&x, &wire.pointee.x, "Overlay.x")
        try map.number(&y, &wire.pointee.y, "Overlay.y")
        try map.finite(&opacity, &wire.pointee.opacity, "Overlay.opacity")
        var (gravity, size, repeats) = (self.gravity, self.size, self.repeats)
        var mode: BlendMode? = self.mode == .normal ? nil : self.mode
        try map.formed(&gravity, &wire.pointee.gravity, "Overlay.gravity")
        try map.formed(&size, &wire.pointee.size, "Overlay.size")
        map.flag(&repeats, &wire.pointee.repeats, "Overlay.repeats")
        try map.formed(&mode, &wire.pointee.mode, "Overlay.mode")
        self = Overlay(
            url: url, x: x, y: y, opacity: opacity, gravity: gravity, size: size, repeats: repeats,
            mode: mode ?? .normal)
    }
}

extension Gravity: FormedText {
    /// Two numbers in full.
    static var bytesMax: Int { 64 }
    var text: String { description }

    init?(reading text: String, _ field: String) throws(WireError) {
        guard let gravity = Gravity(text) else { throw .field(field, .unknownValue) }
        self = gravity
    }
}

extension RelativeSize: FormedText {
    /// Two numbers in full.
    static var bytesMax: Int { 64 }
    var text: String { description }

    init?(reading text: String, _ field: String) throws(WireError) {
        guard let size = RelativeSize(text) else { throw .field(field, .unknownValue) }
        self = size
    }
}

extension BlendMode: FormedText {
    static var bytesMax: Int { 32 }
    var text: String { name }

    init?(reading text: String, _ field: String) throws(WireError) {
        guard let mode = BlendMode(name: text) else { throw .field(field, .unknownValue) }
        self = mode
    }
}

extension OverlayInput: WireMessage {
    typealias Form = Imagebus__V1__OverlayInput
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__overlay_input__init }
    static var blank: Self { Self(source: .blank, layout: .blank, info: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&source, &wire.pointee.source, "OverlayInput.source")
        try map.part(&layout, &wire.pointee.layout, "OverlayInput.layout")
        try map.part(&info, &wire.pointee.info, "OverlayInput.info")
        try layout.check(in: source, "OverlayInput.layout")
    }
}
