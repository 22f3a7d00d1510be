import CMessages
import Model

extension TransformStep: WireMessage {
    typealias Form = Imagebus__V1__Step
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__step__init }
    static var blank: Self { .flip(horizontal: false, vertical: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.part(
            {
                if case .resize(let box, let mode, let enlarges) = self {
                    Resize(box: box, mode: mode, enlarges: enlarges)
                } else {
                    nil
                }
            }, { self = .resize($0.box, $0.mode, enlarges: $0.enlarges) }, &wire.pointee.resize,
            if: &wire.pointee.step_case, 1, "Step.resize")
        {
            return
        }
        if try map.part(
            { if case .crop(let rect) = self { rect } else { nil } }, { self = .crop($0) },
            &wire.pointee.crop,
            if: &wire.pointee.step_case, 2, "Step.crop")
        {
            return
        }
        if try map.part(
            { if case .rotate(let rotation) = self { rotation } else { nil } },
            { self = .rotate($0) }, &wire.pointee.rotate,
            if: &wire.pointee.step_case, 3, "Step.rotate")
        {
            return
        }
        if try map.part(
            { Flip(self) }, { self = .flip(horizontal: $0.horizontal, vertical: $0.vertical) },
            &wire.pointee.flip,
            if: &wire.pointee.step_case, 4, "Step.flip")
        {
            return
        }
        if try map.part(
            { if case .overlay(let overlay) = self { overlay } else { nil } },
            { self = .overlay($0) }, &wire.pointee.overlay,
            if: &wire.pointee.step_case, 5, "Step.overlay")
        {
            return
        }
        if try map.part(
            { StepByName(self) }, { self = $0.step ?? self }, &wire.pointee.named,
            if: &wire.pointee.step_case, 6, "Step.named")
        {
            return
        }
        throw .field("Step.step", .missing)
    }
}

/// A bounding box and how it is filled.
struct Resize: WireMessage {
    var box: PixelSize
    var mode: ResizeMode
    var enlarges: Bool

    typealias Form = Imagebus__V1__Resize
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__resize__init }
    static var blank: Self { Self(box: .blank, mode: .stretch, enlarges: true) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&box, &wire.pointee.box, "Resize.box")
        try map.word(&mode, &wire.pointee.mode, "Resize.mode")
        map.flag(
            &enlarges, unless: mode.enlarges, &wire.pointee.enlarges,
            if: &wire.pointee.maybe_enlarges_case, 3, "Resize.enlarges")
    }
}

extension Rotation: WireMessage {
    typealias Form = Imagebus__V1__Rotate
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__rotate__init }
    static var blank: Self { Self(radians: 0, fitsSize: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.finite(&radians, &wire.pointee.radians, "Rotate.radians")
        map.flag(&fitsSize, &wire.pointee.fits_size, "Rotate.fits_size")
    }
}

/// The direction in which an image is mirrored.
struct Flip: WireMessage {
    var horizontal: Bool
    var vertical: Bool

    typealias Form = Imagebus__V1__Flip
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__flip__init }
    static var blank: Self { Self(horizontal: false, vertical: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        map.flag(&horizontal, &wire.pointee.horizontal, "Flip.horizontal")
        map.flag(&vertical, &wire.pointee.vertical, "Flip.vertical")
    }

    private init(horizontal: Bool, vertical: Bool) {
        (self.horizontal, self.vertical) = (horizontal, vertical)
    }

    /// Returns `nil` for a step of another kind.
    init?(_ step: TransformStep) {
        guard case .flip(let horizontal, let vertical) = step else { return nil }
        self.init(horizontal: horizontal, vertical: vertical)
    }
}

/// A step without a message of its own: its name, and its parameters sorted by name.
struct StepByName: WireMessage {
    var name: String
    var parameters: [String: String]

    typealias Form = Imagebus__V1__NamedStep
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__named_step__init }
    static var blank: Self { Self(name: "", parameters: [:]) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&name, &wire.pointee.name, "NamedStep.name", limit: RequestLimits.nameBytesMax)
        try map.details(
            &parameters, ParameterLimits.self, &wire.pointee.n_parameters, &wire.pointee.parameters,
            "NamedStep.parameters", limit: RequestLimits.parametersMax)
        guard step != nil else { throw .field("NamedStep.name", .unknownValue) }
    }

    /// Returns `nil` for a step that has a message of its own.
    init?(_ step: TransformStep) {
        guard let named = step.form as? any NamedStep else { return nil }
        (name, parameters) = (named.name, named.parameters)
    }

    private init(name: String, parameters: [String: String]) {
        (self.name, self.parameters) = (name, parameters)
    }

    /// The step; `nil` if the name is unknown.
    var step: TransformStep? { TransformStep(named: name, parameters: parameters) }
}

enum ParameterLimits: DetailLimits {
    static var nameMax: Int { RequestLimits.nameBytesMax }
    static func valueMax(beside name: String) -> Int { RequestLimits.parameterBytesMax }
}

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
    /// Two numbers at full precision.
    static var bytesMax: Int { 64 }
    var text: String { description }

    init?(reading text: String, _ field: String) throws(WireError) {
        guard let gravity = Gravity(text) else { throw .field(field, .unknownValue) }
        self = gravity
    }
}

extension RelativeSize: FormedText {
    /// Two numbers at full precision.
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

// Sizes of requests are encoded unchanged, even negative ones: admission rejects them with a
// reason.
extension PixelSize: WireMessage {
    typealias Form = Imagebus__V1__Size
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__size__init }
    static var blank: Self { Self(width: 0, height: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&width, &wire.pointee.width, map.container)
        try map.number(&height, &wire.pointee.height, map.container)
    }
}

extension PixelRect: WireMessage {
    typealias Form = Imagebus__V1__Rect
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__rect__init }
    static var blank: Self { Self(x: 0, y: 0, size: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&x, &wire.pointee.x, "Rect.x")
        try map.number(&y, &wire.pointee.y, "Rect.y")
        try map.part(&size, &wire.pointee.size, "Rect.size")
    }
}
