import CMessages
import ImageModel
import Messages

// Who obtains the bytes: HTTP where nothing is said.
extension FetchWork {
    mutating func loader(
        _ map: some FieldMap, _ wire: CPart<Form>
    ) throws(WireError) {
        var loader = self.loader
        if try map.part(
            { if case .file(let root) = loader { root } else { nil } }, { loader = .file($0) },
            &wire.pointee.file, if: &wire.pointee.maybe_loader_case, 16, "Fetch.file")
        {
            return self.loader = loader
        }
        if try map.unit(
            loader == .data, { loader = .data }, &wire.pointee.data,
            if: &wire.pointee.maybe_loader_case, 17, "Fetch.data")
        {
            return self.loader = loader
        }
        if try map.part(
            { if case .s3(let place) = loader { place } else { nil } }, { loader = .s3($0) },
            &wire.pointee.s3, if: &wire.pointee.maybe_loader_case, 18, "Fetch.s3")
        {
            return self.loader = loader
        }
        if try map.text(
            { if case .pool(let name) = loader { name } else { nil } }, { loader = .pool($0) },
            &wire.pointee.pool, if: &wire.pointee.maybe_loader_case, 19, "Fetch.pool",
            limit: PoolName.bytesMax)
        {
            return self.loader = loader
        }
        self.loader = .http
    }
}

extension FileRoot: WireMessage {
    typealias Form = Imagebus__V1__FileRoot
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__file_root__init }
    static var blank: Self { Self(path: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&path, &wire.pointee.path, "FileRoot.path", limit: Self.bytesMax)
    }
}

extension S3Place: WireMessage {
    typealias Form = Imagebus__V1__S3Place
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__s3_place__init }
    static var blank: Self { Self(endpoint: "", region: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &endpoint, &wire.pointee.endpoint, "S3Place.endpoint", limit: Self.endpointBytesMax)
        try map.text(&region, &wire.pointee.region, "S3Place.region", limit: Self.regionBytesMax)
        map.flag(
            &hasBucketInHost, &wire.pointee.has_bucket_in_host, "S3Place.has_bucket_in_host")
        try map.maybe(&credentials, &wire.pointee.credentials, "S3Place.credentials")
        try map.texts(
            &allowedAddresses, &wire.pointee.n_allowed_addresses,
            &wire.pointee.allowed_addresses, "S3Place.allowed_addresses",
            countMax: Self.addressesMax, limit: Self.addressBytesMax)
    }
}

extension S3Credentials: WireMessage {
    typealias Form = Imagebus__V1__S3Credentials
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__s3_credentials__init }
    static var blank: Self { Self(accessKeyID: "", secretAccessKey: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &accessKeyID, &wire.pointee.access_key_id, "S3Credentials.access_key_id",
            limit: Self.idBytesMax)
        try map.text(
            &secretAccessKey, &wire.pointee.secret_access_key,
            "S3Credentials.secret_access_key", limit: Self.secretBytesMax)
        try map.text(
            &sessionToken, &wire.pointee.session_token, "S3Credentials.session_token",
            limit: Self.tokenBytesMax)
    }
}
