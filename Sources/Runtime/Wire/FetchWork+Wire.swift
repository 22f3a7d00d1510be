import CMessages
import ImageModel
import Messages

extension FetchWork: WireMessage {
    typealias Form = Imagebus__V1__Fetch
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__fetch__init }
    static var blank: Self {
        Self(url: "", headers: [], bodyBytesMax: 0, validators: nil, sources: [])
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&url, &wire.pointee.url, "Fetch.url", limit: RequestLimits.urlBytesMax)
        try map.headers(&headers, &wire.pointee.n_headers, &wire.pointee.headers, "Fetch.headers")
        try map.number(&bodyBytesMax, &wire.pointee.body_bytes_max, "Fetch.body_bytes_max")
        var validators = self.validators.map {
            OriginValidators(etag: $0.etag, lastModified: $0.lastModified)
        }
        try map.maybe(&validators, &wire.pointee.validators, "Fetch.validators")
        self.validators = try validators?.checked()
        try map.texts(
            &sources, &wire.pointee.n_sources, &wire.pointee.sources, "Fetch.sources",
            countMax: MessageLimits.sourcesMax, limit: MessageLimits.sourcesBytesMax)
        guard sources.reduce(0, { $0 + $1.utf8.count }) <= MessageLimits.sourcesBytesMax else {
            throw .field("Fetch.sources", .tooLong(limit: MessageLimits.sourcesBytesMax))
        }
        try loader(map, wire)
        try map.part(&terms, unless: terms.isEmpty, &wire.pointee.terms, "Fetch.terms")
    }
}
