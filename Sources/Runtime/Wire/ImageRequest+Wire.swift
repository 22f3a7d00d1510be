import CMessages
import ImageModel
import Messages

extension ImageRequest: WireMessage {
    typealias Form = Imagebus__V1__ImageRequest
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__image_request__init }
    static var blank: Self { Self(url: "") }

    /// Counts and lengths are checked here; what makes sense is for admission.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.url(of: &self, &wire.pointee.url)
        try map.headers(
            &headers, &wire.pointee.n_headers, &wire.pointee.headers, "ImageRequest.headers")
        try map.maybe(&thumbnail, &wire.pointee.thumbnail, "ImageRequest.thumbnail")
        try map.list(
            &steps, &wire.pointee.n_steps, &wire.pointee.steps, "ImageRequest.steps",
            limit: RequestLimits.stepsMax)
        try map.part(&output, unless: output.isDefault, &wire.pointee.output, "ImageRequest.output")
        map.flag(&infoOnly, &wire.pointee.info_only, "ImageRequest.info_only")
        try map.bits(&options, &wire.pointee.options, "ImageRequest.options")
        try mapWishes(map, wire)
        try map.finite(
            &pixelRatio, unless: 1, &wire.pointee.pixel_ratio,
            if: &wire.pointee.maybe_pixel_ratio_case, 14, "ImageRequest.pixel_ratio")
        try map.part(
            &facts, unless: facts == WantedFacts(), &wire.pointee.facts, "ImageRequest.facts")
        map.flag(
            &wantsExplanation, &wire.pointee.wants_explanation, "ImageRequest.wants_explanation")
        try map.part(
            &assumedLifetime, unless: assumedLifetime == .none, &wire.pointee.assumed_lifetime,
            "ImageRequest.assumed_lifetime")
        try map.number(
            &earlierFailureMilliseconds, within: 0...Int(UInt32.max),
            &wire.pointee.earlier_failure_milliseconds,
            if: &wire.pointee.maybe_earlier_failure_milliseconds_case, 19,
            "ImageRequest.earlier_failure_milliseconds")
        try map.number(
            &frame, within: 0...RequestLimits.framesMax, &wire.pointee.frame,
            if: &wire.pointee.maybe_frame_case, 17, "ImageRequest.frame")
        try map.part(
            &context, unless: context.isEmpty, &wire.pointee.context, "ImageRequest.context")
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
    typealias Form = Imagebus__V1__Thumbnail
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__thumbnail__init }
    static var blank: Self { Self(box: .blank, preservesAspectRatio: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&box, &wire.pointee.box, "Thumbnail.box")
        map.flag(
            &preservesAspectRatio, &wire.pointee.preserves_aspect_ratio,
            "Thumbnail.preserves_aspect_ratio")
    }
}

extension AssumedLifetime: WireMessage {
    typealias Form = Imagebus__V1__AssumedLifetime
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__assumed_lifetime__init }
    static var blank: Self { .none }

    /// What a request may say is for admission.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&fresh, &wire.pointee.fresh, "AssumedLifetime.fresh")
        try map.number(
            &whileRevalidate, &wire.pointee.while_revalidate, "AssumedLifetime.while_revalidate")
        try map.number(&ifError, &wire.pointee.if_error, "AssumedLifetime.if_error")
    }
}
