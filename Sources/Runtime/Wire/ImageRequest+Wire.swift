import CMessages
import ImageModel
import Messages

extension ImageRequest {
    /// Counts and lengths are checked here; what makes sense is for admission.
    init(_ wire: Imagebus__V1__ImageRequest, _ read: FieldReader) throws(WireError) {
        self.init(
            url: try read.text(wire.url, "ImageRequest.url", limit: RequestLimits.urlBytesMax))
        headers = try HTTPHeader.list(wire.n_headers, wire.headers, "ImageRequest.headers", read)
        thumbnail = try wire.thumbnail.map { part throws(WireError) in
            Thumbnail(
                box: try PixelSize(part.pointee.box, "Thumbnail.box", read),
                preservesAspectRatio: part.pointee.preserves_aspect_ratio != 0)
        }
        guard wire.n_steps <= RequestLimits.stepsMax else {
            throw .field("ImageRequest.steps", .tooMany(limit: RequestLimits.stepsMax))
        }
        steps = try TransformStep.list(wire.n_steps, wire.steps, "ImageRequest.steps", read)
        output = try OutputOptions(wire.output, read)
        infoOnly = wire.info_only != 0
        options = RequestOptions(rawValue: wire.options)
        try readWishes(wire, read)
        context = try RequestContext(wire.context, read)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__ImageRequest>
    {
        let wire = try write.make(imagebus__v1__image_request__init)
        wire.pointee.url = try write.text(
            url, "ImageRequest.url", limit: RequestLimits.urlBytesMax)
        if !headers.isEmpty {
            wire.pointee.n_headers = headers.count
            wire.pointee.headers = try HTTPHeader.wire(headers, "ImageRequest.headers", write)
        }
        wire.pointee.thumbnail = try thumbnail.map { part throws(WireError) in
            try part.wire(write)
        }
        guard steps.count <= RequestLimits.stepsMax else {
            throw .field("ImageRequest.steps", .tooMany(limit: RequestLimits.stepsMax))
        }
        if !steps.isEmpty {
            wire.pointee.n_steps = steps.count
            wire.pointee.steps = try TransformStep.wire(steps, "ImageRequest.steps", write)
        }
        wire.pointee.output = try output.wire(write)
        wire.pointee.info_only = infoOnly ? 1 : 0
        wire.pointee.options = options.rawValue
        writeWishes(&wire.pointee)
        wire.pointee.context = try context.wire(write)
        return wire
    }
}

extension Thumbnail {
    fileprivate func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Thumbnail>
    {
        let wire = try write.make(imagebus__v1__thumbnail__init)
        wire.pointee.box = try box.wire(write)
        wire.pointee.preserves_aspect_ratio = preservesAspectRatio ? 1 : 0
        return wire
    }
}
