import CMessages
import ImageModel
import Messages

extension FetchWork: WireMessage {
    static var begin: (CPart<Imagebus__V1__Fetch>?) -> Void { imagebus__v1__fetch__init }
    static var blank: Self {
        Self(url: "", headers: [], bodyBytesMax: 0, validators: nil, sources: [])
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Fetch>
    ) throws(WireError) {
        try map.text(&value.url, &wire.pointee.url, "Fetch.url", limit: RequestLimits.urlBytesMax)
        try map.headers(
            &value.headers, &wire.pointee.n_headers, &wire.pointee.headers, "Fetch.headers")
        try map.number(&value.bodyBytesMax, &wire.pointee.body_bytes_max, "Fetch.body_bytes_max")
        var validators = value.validators.map {
            OriginValidators(etag: $0.etag, lastModified: $0.lastModified)
        }
        try map.maybe(&validators, &wire.pointee.validators, "Fetch.validators")
        value.validators = try validators?.checked()
        try map.texts(
            &value.sources, &wire.pointee.n_sources, &wire.pointee.sources, "Fetch.sources",
            countMax: MessageLimits.sourcesMax, limit: MessageLimits.sourcesBytesMax)
        guard value.sources.reduce(0, { $0 + $1.utf8.count }) <= MessageLimits.sourcesBytesMax
        else {
            throw .field("Fetch.sources", .tooLong(limit: MessageLimits.sourcesBytesMax))
        }
    }
}
