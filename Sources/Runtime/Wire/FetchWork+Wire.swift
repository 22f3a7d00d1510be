import CMessages
import ImageModel
import Messages

extension FetchWork {
    init(_ wire: Imagebus__V1__Fetch, _ read: FieldReader) throws(WireError) {
        self.init(
            url: try read.text(wire.url, "Fetch.url", limit: RequestLimits.urlBytesMax),
            headers: try HTTPHeader.list(wire.n_headers, wire.headers, "Fetch.headers", read),
            bodyBytesMax: wire.body_bytes_max,
            validators: try wire.validators.map { part throws(WireError) in
                try Validators(part.pointee, read)
            },
            sources: try read.texts(
                wire.n_sources, wire.sources, "Fetch.sources", countMax: MessageLimits.sourcesMax,
                limit: MessageLimits.sourcesBytesMax, totalMax: MessageLimits.sourcesBytesMax))
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Fetch> {
        let wire = try write.make(imagebus__v1__fetch__init)
        wire.pointee.url = try write.text(url, "Fetch.url", limit: RequestLimits.urlBytesMax)
        wire.pointee.n_headers = headers.count
        wire.pointee.headers = try HTTPHeader.wire(headers, "Fetch.headers", write)
        wire.pointee.body_bytes_max = bodyBytesMax
        wire.pointee.validators = try validators.map { part throws(WireError) in
            try part.wire(write)
        }
        wire.pointee.n_sources = sources.count
        wire.pointee.sources = try write.texts(
            sources, "Fetch.sources", countMax: MessageLimits.sourcesMax,
            limit: MessageLimits.sourcesBytesMax, totalMax: MessageLimits.sourcesBytesMax)
        return wire
    }
}
