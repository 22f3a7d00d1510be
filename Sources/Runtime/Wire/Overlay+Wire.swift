import CMessages
import ImageModel
import Messages

extension Overlay: WireMessage {
    static var begin: (CPart<Imagebus__V1__Overlay>?) -> Void { imagebus__v1__overlay__init }
    static var blank: Self { Self(url: "") }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Overlay>
    ) throws(WireError) {
        var (url, x, y, opacity) = (value.url, value.x, value.y, value.opacity)
        try map.text(&url, &wire.pointee.url, "Overlay.url", limit: RequestLimits.urlBytesMax)
        try map.number(&x, &wire.pointee.x, "Overlay.x")
        try map.number(&y, &wire.pointee.y, "Overlay.y")
        try map.finite(&opacity, &wire.pointee.opacity, "Overlay.opacity")
        value = Overlay(url: url, x: x, y: y, opacity: opacity)
    }
}

extension OverlayInput: WireMessage {
    static var begin: (CPart<Imagebus__V1__OverlayInput>?) -> Void {
        imagebus__v1__overlay_input__init
    }
    static var blank: Self { Self(source: .blank, layout: .blank, info: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__OverlayInput>
    ) throws(WireError) {
        try map.part(&value.source, &wire.pointee.source, "OverlayInput.source")
        try map.part(&value.layout, &wire.pointee.layout, "OverlayInput.layout")
        try map.part(&value.info, &wire.pointee.info, "OverlayInput.info")
        try value.layout.check(in: value.source, "OverlayInput.layout")
    }
}
