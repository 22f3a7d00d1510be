import CMessages
import ImageModel
import Messages

extension ImageRequest: WireMessage {
    static var begin: (CPart<Imagebus__V1__ImageRequest>?) -> Void {
        imagebus__v1__image_request__init
    }
    static var blank: Self { Self(url: "") }

    /// Counts and lengths are checked here; what makes sense is for admission.
    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__ImageRequest>
    ) throws(WireError) {
        try map.url(of: &value, &wire.pointee.url)
        try map.headers(
            &value.headers, &wire.pointee.n_headers, &wire.pointee.headers, "ImageRequest.headers")
        try map.maybe(&value.thumbnail, &wire.pointee.thumbnail, "ImageRequest.thumbnail")
        try map.list(
            &value.steps, &wire.pointee.n_steps, &wire.pointee.steps, "ImageRequest.steps",
            limit: RequestLimits.stepsMax)
        try map.part(
            &value.output, unless: value.output.isDefault, &wire.pointee.output,
            "ImageRequest.output")
        map.flag(&value.infoOnly, &wire.pointee.info_only, "ImageRequest.info_only")
        try map.bits(&value.options, &wire.pointee.options, "ImageRequest.options")
        try wishes(map, &value, wire)
        try map.part(
            &value.context, unless: value.context.isEmpty, &wire.pointee.context,
            "ImageRequest.context")
    }
}

extension FieldMap {
    /// A request changes the URLs that it is given, which is done once, when it is read.
    fileprivate func url(of value: inout ImageRequest, _ member: inout CText?) throws(WireError) {
        var url = value.url
        try text(&url, &member, "ImageRequest.url", limit: RequestLimits.urlBytesMax)
        if url != value.url { value.url = url }
    }
}

extension Thumbnail: WireMessage {
    static var begin: (CPart<Imagebus__V1__Thumbnail>?) -> Void { imagebus__v1__thumbnail__init }
    static var blank: Self { Self(box: .blank, preservesAspectRatio: false) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Thumbnail>
    ) throws(WireError) {
        try map.part(&value.box, &wire.pointee.box, "Thumbnail.box")
        map.flag(
            &value.preservesAspectRatio, &wire.pointee.preserves_aspect_ratio,
            "Thumbnail.preserves_aspect_ratio")
    }
}
