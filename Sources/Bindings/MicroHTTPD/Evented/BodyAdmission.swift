/// Whether the body of a request is read.
public enum BodyAdmission {
    /// It is, up to so many bytes, and never more than the limits of the server permit. One that is
    /// larger is read to its end, is not kept, and is answered 413.
    case take(bytesMax: Int)
    /// It is answered at once; the body is not read, and the connection closed.
    case refuse(HTTPReply)
}
