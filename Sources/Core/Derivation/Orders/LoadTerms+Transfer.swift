import ImageModel

extension LoadTerms {
    /// What a download worker is told of the transfer: no two identities have a cookie jar of the
    /// same name.
    var transferOfItsOwn: TransferTerms {
        var transfer = transfer
        transfer.cookieJar = transfer.cookieJar.map { "\(identity ?? "")/\($0)" }
        return transfer
    }
}
